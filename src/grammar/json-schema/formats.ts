import { type Language, Languages } from "../regex/language.ts";
import { noFlags, patternLanguage } from "../regex/pattern.ts";

/**
 * The formats that are enforced, as regular expressions of ours, each from the standard that JSON Schema names for it. A text of a format
 * is matched by `source` from end to end, has no part that one of `never` matches, and at most `lengthMax` characters.
 *
 * Missing by choice, all of them rare: leap seconds outside of UTC (RFC 3339 allows them where UTC has 23:59:60), punycode labels
 * (`xn--…`, RFC 5891) in host names, and a zero-width non-joiner between letters that join. Not checked: how long the labels of an
 * `idn-hostname` are, which is a matter of their punycode.
 */
export type Format = { readonly source: string; readonly never?: readonly string[]; readonly lengthMax?: number };

/** All of the formats that somebody has asked for, the base of every schema's languages. */
export const formatLanguages = new Languages();
const known = new Map<Format, Language>();

export function formatLanguage(format: Format): Language {
  const language = known.get(format) ?? languageOf(formatLanguages, format);
  known.set(format, language);
  return language;
}

function languageOf(languages: Languages, { source, never = [] }: Format): Language {
  const expression = (text: string, extent: "search" | "whole") => {
    const language = patternLanguage(languages, text, noFlags, extent);
    if (!language.ok) throw new Error(`a format ${language.failure}`);
    return language.value;
  };
  const barred = never.map((text) => languages.complement(expression(text, "search")));
  return languages.intersection([expression(source, "whole"), ...barred]);
}

// Dates and times: RFC 3339. A day fits its month, and 29 February its year.

const leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const day28 = "(?:0[1-9]|1[0-9]|2[0-8])";
const monthDay = `(?:(?:0[13578]|1[02])-(?:${day28}|29|3[01])|(?:0[469]|11)-(?:${day28}|29|30)|02-${day28})`;
const date = `(?:[0-9]{4}-${monthDay}|${leapYear}-02-29)`;
const hour = "(?:[01][0-9]|2[0-3])";
const minute = "[0-5][0-9]";
const offset = `[+\\-]${hour}:${minute}`;
const fraction = "(?:\\.[0-9]+)?";
const time = `(?:${hour}:${minute}:[0-5][0-9]${fraction}(?:[Zz]|${offset})|23:59:60${fraction}(?:[Zz]|[+\\-]00:00))`;

// Durations: RFC 3339, appendix A.

const seconds = "[0-9]+S";
const minutes = `[0-9]+M(?:${seconds})?`;
const hours = `[0-9]+H(?:${minutes})?`;
const timeOfDuration = `T(?:${hours}|${minutes}|${seconds})`;
const days = "[0-9]+D";
const months = `[0-9]+M(?:${days})?`;
const years = `[0-9]+Y(?:${months})?`;
const duration = `P(?:(?:${years}|${months}|${days})(?:${timeOfDuration})?|${timeOfDuration}|[0-9]+W)`;

// Addresses: RFC 2673 for IPv4, RFC 4291 for IPv6.

const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const ipv4 = `${octet}(?:\\.${octet}){3}`;
const group = "[0-9A-Fa-f]{1,4}";
const last32 = `(?:${group}:${group}|${ipv4})`;
const ipv6 = [
  `(?:${group}:){6}${last32}`,
  `::(?:${group}:){5}${last32}`,
  `(?:${group})?::(?:${group}:){4}${last32}`,
  `(?:(?:${group}:){0,1}${group})?::(?:${group}:){3}${last32}`,
  `(?:(?:${group}:){0,2}${group})?::(?:${group}:){2}${last32}`,
  `(?:(?:${group}:){0,3}${group})?::${group}:${last32}`,
  `(?:(?:${group}:){0,4}${group})?::${last32}`,
  `(?:(?:${group}:){0,5}${group})?::${group}`,
  `(?:(?:${group}:){0,6}${group})?::`,
].join("|");

// Host names: RFC 1123. Hyphens in the third and fourth place are reserved for punycode.

const edge = "[0-9A-Za-z]";
const inner = "[0-9A-Za-z\\-]";
const label = `${edge}(?:${inner}{0,2}${edge}|${inner}(?:${edge}${inner}|-${edge})${inner}{0,58}${edge})?`;
const hostname = `${label}(?:\\.${label})*`;
const hostLengthMax = 253;

// Names in all scripts: RFC 5892. Valid are letters, digits and marks that normalisation and case folding leave as they are; some
// characters only beside others. Directions are those of RFC 5893, told by the scripts that run from right to left.

const dots = ".\\u3002\\uff0e\\uff61";
const leftwards = ["Hebrew", "Arabic", "Syriac", "Thaana", "Nko", "Samaritan", "Mandaic", "Adlam"]
  .map((script) => `\\p{Script=${script}}`)
  .join("");
const joiners = "\\u200c\\u200d";
const viramas =
  "\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0e3a\\u0eba\\u0f84\\u1039\\u103a\\u17d2\\u1a60\\u1b44";
const kana = "\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Han}";
const name = `[0-9A-Za-z\\-${joiners}\\xb7\\p{L}\\p{M}\\p{Nd}\\u05f3\\u05f4\\u0375\\u06fd\\u06fe\\u0f0b\\u3007\\u30fb]+`;
const idnHostname = {
  source: `${name}(?:[${dots}]${name})*`,
  never: [
    "[\\u0640\\u07fa\\u302e\\u302f\\u3031-\\u3035\\u303b\\p{Me}]",
    `(?![\\xdf\\u03c2\\u0f0b${joiners}${dots}A-Z])\\p{Changes_When_NFKC_Casefolded}`,
    `(?:^|[${dots}])(?:[\\-\\p{M}]|[^${dots}]{2}--)`,
    `-(?:[${dots}]|$)`,
    "(?:^|[^l])\\xb7",
    "\\xb7(?:[^l]|$)",
    "\\u0375(?:[^\\p{Script=Greek}]|$)",
    "(?:^|[^\\p{Script=Hebrew}])[\\u05f3\\u05f4]",
    `(?:^|[${dots}])(?:[^${dots}${kana}]|\\u30fb)*\\u30fb(?:[^${dots}${kana}]|\\u30fb)*(?:[${dots}]|$)`,
    `(?:^|[^${viramas}])[${joiners}]`,
    // Letters of both directions in one label, or one from right to left that does not begin so; then no label begins with a digit.
    `(?:^|[${dots}])[^${dots}${leftwards}][^${dots}]*(?![\\p{M}${joiners}])[${leftwards}]`,
    `(?:^|[${dots}])[${leftwards}][^${dots}]*(?![${leftwards}])\\p{L}`,
    `[\\u0660-\\u0669][^${dots}]*[0-9\\u06f0-\\u06f9]|[0-9\\u06f0-\\u06f9][^${dots}]*[\\u0660-\\u0669]`,
    `(?![\\p{M}\\p{Nd}])[${leftwards}].*[${dots}]\\p{Nd}|(?:^|[${dots}])\\p{Nd}.*(?![\\p{M}\\p{Nd}])[${leftwards}]`,
  ],
  lengthMax: hostLengthMax,
};

// Mail: RFC 5321, 4.1.2; with names and hosts in all scripts, RFC 6531.

const mail = (letters: string, host: string) => {
  const atom = `[0-9A-Za-z!#$%&'*+/=?^_\`{|}~\\-${letters}]+`;
  const quoted = `"(?:[ !#-\\[\\]-~${letters}]|\\\\[ -~])*"`;
  return `(?:${atom}(?:\\.${atom})*|${quoted})@(?:${host}|\\[(?:${ipv4}|IPv6:(?:${ipv6}))\\])`;
};
const beyondAscii = "\\x80-\\u{10ffff}";
const idnLabel = `(?:[0-9A-Za-z\\p{L}\\p{M}\\p{Nd}](?:[0-9A-Za-z\\-\\p{L}\\p{M}\\p{Nd}]*[0-9A-Za-z\\p{L}\\p{M}\\p{Nd}])?)`;

// Identifiers: RFC 3986 for URIs, RFC 3987 for IRIs, which take further characters.

const percent = "%[0-9A-Fa-f]{2}";
const unreserved = "0-9A-Za-z\\-._~";
const delimiters = "!$&'()*+,;=";
const scheme = "[A-Za-z][0-9A-Za-z+\\-.]*";
const wideLetters =
  "\\xa0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef" +
  Array.from({ length: 14 }, (_, i) => `\\u{${(i + 1).toString(16)}0000}-\\u{${(i + 1).toString(16)}fffd}`).join("");
const privateLetters = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";

function identifiers(letters: string, privates: string) {
  const segment = `(?:[${unreserved}${delimiters}:@${letters}]|${percent})`;
  const colonless = `(?:[${unreserved}${delimiters}@${letters}]|${percent})`;
  const user = `(?:[${unreserved}${delimiters}:${letters}]|${percent})*`;
  const future = `[Vv][0-9A-Fa-f]+\\.[${unreserved}${delimiters}:]+`;
  const host = `(?:\\[(?:${ipv6}|${future})\\]|(?:[${unreserved}${delimiters}${letters}]|${percent})*)`;
  const authority = `(?:${user}@)?${host}(?::[0-9]*)?`;
  const rooted = `//${authority}(?:/${segment}*)*|/(?:${segment}+(?:/${segment}*)*)?`;
  const query = `(?:\\?(?:[${unreserved}${delimiters}:@/?${letters}${privates}]|${percent})*)?`;
  const fragment = `(?:#(?:[${unreserved}${delimiters}:@/?${letters}]|${percent})*)?`;
  return {
    absolute: `${scheme}:(?:${rooted}|${segment}+(?:/${segment}*)*|)${query}${fragment}`,
    relative: `(?:${rooted}|${colonless}+(?:/${segment}*)*|)${query}${fragment}`,
  };
}
const uri = identifiers("", "");
const iri = identifiers(wideLetters, privateLetters);

// Templates: RFC 6570.

const variableCharacter = `(?:[0-9A-Za-z_]|${percent})`;
const variable = `${variableCharacter}(?:\\.?${variableCharacter})*(?::[1-9][0-9]{0,3}|\\*)?`;
const expression = `\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\}`;
const templateLiteral = `[!#$&-;=?-\\[\\]_a-z~${wideLetters}${privateLetters}]|${percent}`;

// Pointers: RFC 6901, and its relative form (draft-bhutton-relative-json-pointer-00).

const pointer = "(?:/(?:[^/~]|~[01])*)*";
const whole = "(?:0|[1-9][0-9]*)";

export const formats: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["date-time", { source: `${date}[Tt]${time}` }],
  ["date", { source: date }],
  ["time", { source: time }],
  ["duration", { source: duration }],
  ["email", { source: mail("", hostname) }],
  ["idn-email", { source: mail(beyondAscii, `${idnLabel}(?:\\.${idnLabel})*`) }],
  ["hostname", { source: hostname, lengthMax: hostLengthMax }],
  ["idn-hostname", idnHostname],
  ["ipv4", { source: ipv4 }],
  ["ipv6", { source: ipv6 }],
  ["uri", { source: uri.absolute }],
  ["uri-reference", { source: `${uri.absolute}|${uri.relative}` }],
  ["iri", { source: iri.absolute }],
  ["iri-reference", { source: `${iri.absolute}|${iri.relative}` }],
  ["uri-template", { source: `(?:${templateLiteral}|${expression})*` }],
  ["uuid", { source: "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}" }],
  ["json-pointer", { source: pointer }],
  ["relative-json-pointer", { source: `${whole}(?:[+\\-]${whole})?(?:#|${pointer})` }],
]);
