/**
 * A system text without the line that Claude Code puts in front of it: it holds a checksum that differs with every request, so that no
 * prompt would ever share a prefix with the one before.
 */
export function withoutBillingHeader(text: string): string {
  if (!text.startsWith("x-anthropic-billing-header:")) return text;
  const end = text.indexOf("\n");
  return end < 0 ? "" : text.slice(end + 1).trimStart();
}
