import { child, type JsonObject, type JsonText, pointerTo, pointerTokens } from "../json-text.ts";
import { type Documents, marksOf, nameless, type OpenDocument } from "./documents.ts";
import { type Draft, draftNamed, newestDraft, refHidesSiblings, schemaNamed } from "./draft.ts";
import { keywordOf } from "./keywords.ts";
import type { Scope } from "./schema.ts";

/** A schema and the RFC 6901 pointer of its place in the document; in another document after that one's name and `#`. */
export type Place = { readonly json: JsonText; readonly pointer: string };

/** A schema with an identifier, or a document: against its address the references inside it resolve. */
type Resource = {
  readonly base: string;
  readonly root: Place;
  /** undefined: a draft too old to be read. */
  readonly draft: Draft | undefined;
  readonly anchors: Map<string, Place>;
  readonly dynamicAnchors: Map<string, Place>;
};

/** A schema of a resource, and the steps to it from the pointer or the schema that it is `within`: few places are asked for. */
type Inside = {
  readonly json: JsonText;
  readonly resource: Resource;
  readonly within: string | Inside;
  readonly steps: readonly (string | number)[];
};

/**
 * Where references lead: by JSON pointer, by identifier and by anchor, inside the document and into others that are given. Nothing is ever
 * fetched. The index is made when something first asks for it.
 */
export class References {
  /** Whether some reference depends on the resources that led to it. */
  readonly isDynamic: boolean;
  readonly #root: Resource;
  readonly #documents: Documents;
  readonly #resourceOf = new Map<JsonText, Resource>();
  readonly #resources = new Map<string, Resource>();
  /** Nothing in the document has an identifier or an anchor, so that all of it is the root's. */
  readonly #isPlain: boolean;
  #isIndexed = false;

  constructor(root: JsonText, text: string, documents: Documents) {
    this.#documents = documents;
    const marks = marksOf(text);
    const leaves = documents.isDynamic && text.includes("$ref");
    this.isDynamic = leaves || marks.dynamic;
    this.#root = resourceAt(nameless, { json: root, pointer: "" }, this.#dialect(root, newestDraft));
    // Only a part that names its draft has another one than the root.
    const mayBeOld = this.#root.draft?.name === "draft-04" || marks.drafts > (schemaNamed(root) === undefined ? 0 : 1);
    this.#isPlain = !marks.identifiers && !(mayBeOld && /"id"\s*:\s*"/.test(text));
    if (this.isDynamic) this.#index();
  }

  /** The draft that a schema is written in; undefined where it is too old. */
  draftOf(json: JsonText): Draft | undefined {
    if (!this.#isIndexed && json !== this.#root.root.json && schemaNamed(json) !== undefined) this.#index();
    return this.#around(json).draft;
  }

  /** The address that references in a schema are relative to. */
  baseOf(json: JsonText): string {
    this.#index();
    return this.#around(json).base;
  }

  /** The target of a reference as it stands in the schema `from`; undefined where nothing is there. */
  resolve(from: JsonText, keyword: string, reference: string, scope: Scope): Place | undefined {
    this.#index();
    const around = this.#around(from);
    // Most references stay inside their resource; what a URI would have changed in a fragment is not printable ASCII.
    const local = /^#[!-~]*$/.test(reference);
    const url = local ? undefined : URL.parse(reference, around.base);
    if (url === null) return undefined;
    const resource = this.#resource(url === undefined ? around.base : withoutFragment(url), around);
    const fragment = decodeFragment((url?.hash ?? reference).slice(1));
    if (resource === undefined || fragment === undefined) return undefined;
    const entered = scope.flatMap((base) => this.#resources.get(base) ?? []);
    if (fragment.startsWith("/")) {
      // Authors who give a part an identifier still point from the root of the document.
      const fromRoot = reference.startsWith("#") ? () => this.#walk(this.#root, fragment) : () => undefined;
      return this.#walk(resource, fragment) ?? fromRoot();
    }
    if (keyword === "$recursiveRef" && recurses(resource)) return (entered.find(recurses) ?? resource).root;
    if (fragment === "") return resource.root;
    if (keyword === "$dynamicRef" && resource.dynamicAnchors.has(fragment)) {
      for (const { dynamicAnchors } of entered) {
        const outermost = dynamicAnchors.get(fragment);
        if (outermost !== undefined) return outermost;
      }
    }
    return resource.anchors.get(fragment);
  }

  #around(json: JsonText): Resource {
    return this.#resourceOf.get(json) ?? this.#root;
  }

  #index(): void {
    if (this.#isIndexed) return;
    this.#isIndexed = true;
    this.#add(this.#root.root, this.#root);
    this.#resources.set(this.#root.base, this.#root);
  }

  /** The resource of that address, perhaps a document that is opened now. */
  #resource(base: string, from: Resource): Resource | undefined {
    const known = this.#resources.get(base);
    // A document with an identifier of its own is found by both addresses.
    if (known !== undefined) return this.#resourceOf.get(known.root.json) ?? known;
    const document = this.#documents.find(base);
    if (document !== undefined) return this.#open(document, base, from);
    // It may be inside of one that nothing has led to yet.
    for (const other of this.#documents.all) {
      if (!this.#resourceOf.has(other.json)) this.#open(other, other.address, from);
    }
    return this.#resources.get(base);
  }

  #open({ name, json }: OpenDocument, base: string, from: Resource): Resource {
    const draft = this.#dialect(json, from.draft ?? newestDraft);
    const opened = resourceAt(base, { json, pointer: `${name}#` }, draft);
    this.#resources.set(base, opened);
    this.#add(opened.root, opened);
    return this.#resourceOf.get(json) ?? opened;
  }

  /** What `$schema` makes of a schema with an identifier. A metaschema of one's own says which vocabularies count. */
  #dialect(json: JsonText, outer: Draft): Draft | undefined {
    const named = schemaNamed(json);
    if (named === undefined) return outer;
    const draft = draftNamed(named);
    if (draft !== undefined) return draft === "old" ? undefined : draft;
    const metaschema = this.#documents.find(named.replace(/#$/, ""))?.json;
    if (metaschema?.kind !== "object") return outer;
    const base = draftNamed(schemaNamed(metaschema) ?? "");
    const listed = metaschema.entries.get("$vocabulary");
    if (base === undefined || base === "old" || listed?.kind !== "object") return outer;
    return { ...base, vocabularies: new Set([...listed.entries.keys()].map((uri) => uri.replace(/^.*\//, ""))) };
  }

  /** Registers a schema and those inside it, where keywords of the draft hold schemas. */
  #add(place: Place, resource: Resource): void {
    if (this.#isPlain && resource === this.#root) return;
    const pending: Inside[] = [{ json: place.json, resource, within: place.pointer, steps: [] }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { json } = next;
      if (json.kind !== "object" || this.#resourceOf.has(json)) continue;
      const own = this.#identify(json, next);
      this.#resourceOf.set(json, own);
      const inside = (item: JsonText, ...steps: Inside["steps"]) => {
        pending.push({ json: item, resource: own, within: next, steps });
      };
      for (const [name, value] of json.entries) {
        const holds = keywordOf(name, own.draft ?? newestDraft)?.holds;
        if (holds === undefined) continue;
        // `items` and `dependencies` hold one schema or several, by draft.
        if (value.kind === "array") for (const [i, item] of value.items.entries()) inside(item, name, i);
        else if (holds === "map" && value.kind === "object") {
          for (const [key, item] of value.entries) inside(item, name, key);
        } else inside(value, name);
      }
    }
  }

  /** The resource that a schema belongs to, which may be a new one: its own. Registers anchors on the way. */
  #identify(json: JsonObject, place: Inside): Resource {
    const { resource: outer } = place;
    const { entries } = json;
    const draft = this.#dialect(json, outer.draft ?? newestDraft);
    if (draft !== undefined && refHidesSiblings(draft) && entries.has("$ref")) return outer;
    let own = outer;
    const id = entries.get(draft?.name === "draft-04" ? "id" : "$id");
    if (id?.kind === "string") {
      const url = URL.parse(id.value, outer.base);
      // Up to draft 7 an identifier that is only a fragment names a place in the outer resource.
      if (url !== null && id.value.startsWith("#")) outer.anchors.set(id.value.slice(1), placeOf(place));
      else if (url !== null) {
        own = resourceAt(withoutFragment(url), placeOf(place), draft);
        if (!this.#resources.has(own.base) || json === outer.root.json) this.#resources.set(own.base, own);
      }
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const name = entries.get(keyword);
      if (name?.kind !== "string" || keywordOf(keyword, own.draft ?? newestDraft) === undefined) continue;
      own.anchors.set(name.value, placeOf(place));
      if (keyword === "$dynamicAnchor") own.dynamicAnchors.set(name.value, placeOf(place));
    }
    return own;
  }

  /** Follows a pointer from a resource's root; what lies outside every keyword becomes a schema by being referred to. */
  #walk(resource: Resource, pointer: string): Place | undefined {
    let place = resource.root;
    let around = this.#resourceOf.get(place.json) ?? resource;
    for (const token of pointerTokens(pointer) ?? [undefined]) {
      const json = token === undefined ? undefined : child(place.json, token);
      if (json === undefined || token === undefined) return undefined;
      place = { json, pointer: pointerTo(place.pointer, token) };
      around = this.#resourceOf.get(json) ?? around;
    }
    this.#add(place, around);
    return place;
  }
}

function placeOf({ json, within, steps }: Inside): Place {
  const outer = typeof within === "string" ? within : placeOf(within).pointer;
  return { json, pointer: steps.reduce<string>(pointerTo, outer) };
}

function resourceAt(base: string, root: Place, draft: Draft | undefined): Resource {
  return { base, root, draft, anchors: new Map(), dynamicAnchors: new Map() };
}

/** Whether the root of a resource says that it may be extended: 2019-09's `$recursiveAnchor`. */
function recurses({ root: { json } }: Resource): boolean {
  const anchor = json.kind === "object" ? json.entries.get("$recursiveAnchor") : undefined;
  return anchor?.kind === "boolean" && anchor.value;
}

function withoutFragment(url: URL): string {
  return url.hash === "" ? url.href.replace(/#$/, "") : url.href.slice(0, -url.hash.length);
}

function decodeFragment(fragment: string): string | undefined {
  if (!fragment.includes("%")) return fragment;
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
