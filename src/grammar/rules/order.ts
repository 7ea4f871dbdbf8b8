/** The strongly connected parts of a graph, each after all that it leads to (Tarjan 1972, without recursion). */
export function components<T>(nodes: Iterable<T>, edges: (node: T) => readonly T[]): T[][] {
  const numbers = new Map<T, number>();
  const lows = new Map<T, number>();
  const onStack = new Set<T>();
  const stack: T[] = [];
  const out: T[][] = [];
  const open: { readonly node: T; readonly edges: readonly T[]; next: number }[] = [];
  const visit = (node: T) => {
    numbers.set(node, numbers.size);
    lows.set(node, numbers.size - 1);
    stack.push(node);
    onStack.add(node);
    open.push({ node, edges: edges(node), next: 0 });
  };
  const lower = (node: T, to: number) => lows.set(node, Math.min(lows.get(node) ?? to, to));
  for (const start of nodes) {
    if (numbers.has(start)) continue;
    visit(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = top.edges[top.next++];
      if (next !== undefined) {
        if (!numbers.has(next)) visit(next);
        else if (onStack.has(next)) lower(top.node, numbers.get(next) ?? 0);
        continue;
      }
      open.pop();
      const low = lows.get(top.node) ?? 0;
      const parent = open.at(-1);
      if (parent !== undefined) lower(parent.node, low);
      if (low !== numbers.get(top.node)) continue;
      const part = stack.splice(stack.lastIndexOf(top.node));
      for (const node of part) onStack.delete(node);
      out.push(part);
    }
  }
  return out;
}
