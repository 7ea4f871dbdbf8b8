/** A token that is found in the text as it stands, before anything else looks at it. */
export type AddedToken = {
  readonly id: number;
  readonly text: string;
  /** Found in prompts only (`special`): it steers the model, and a user's text must not. */
  readonly special: boolean;
  /** Whether whitespace before or after it belongs to it. */
  readonly stripLeft: boolean;
  readonly stripRight: boolean;
};

export type Section = { readonly text: string } | { readonly token: number };

/** Cuts a text at the added tokens in it, the leftmost first, the longest of those that begin at one place. */
export type Partition = (text: string, special: boolean) => readonly Section[];

export function partitionBy(tokens: readonly AddedToken[]): Partition {
  const root: Node = { next: new Map(), token: undefined };
  for (const token of tokens) {
    let node = root;
    for (let at = 0; at < token.text.length; at++) node = childOf(node, token.text.charCodeAt(at));
    if (node !== root) node.token ??= token;
  }

  const tokenAt = (text: string, at: number, special: boolean): AddedToken | undefined => {
    let longest: AddedToken | undefined;
    let node = root.next.get(text.charCodeAt(at));
    for (let end = at + 1; node !== undefined; end++) {
      if (node.token !== undefined && (special || !node.token.special)) longest = node.token;
      node = end < text.length ? node.next.get(text.charCodeAt(end)) : undefined;
    }
    return longest;
  };

  return (text, special) => {
    const sections: Section[] = [];
    let start = 0;
    for (let at = 0; at < text.length; ) {
      const token = tokenAt(text, at, special);
      if (token === undefined) {
        at++;
        continue;
      }
      const before = text.slice(start, at);
      const kept = token.stripLeft ? before.trimEnd() : before;
      if (kept !== "") sections.push({ text: kept });
      sections.push({ token: token.id });
      at += token.text.length;
      if (token.stripRight) at += text.length - at - text.slice(at).trimStart().length;
      start = at;
    }
    if (start < text.length) sections.push({ text: text.slice(start) });
    return sections;
  };
}

/** A trie by UTF-16 units. */
type Node = { readonly next: Map<number, Node>; token: AddedToken | undefined };

function childOf(node: Node, unit: number): Node {
  let child = node.next.get(unit);
  if (child === undefined) {
    child = { next: new Map(), token: undefined };
    node.next.set(unit, child);
  }
  return child;
}
