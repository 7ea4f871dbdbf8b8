import { child, type JsonText, pointerTo, pointerTokens } from "../json-text.ts";
import { type Draft, refHidesSiblings } from "./draft.ts";
import { keywordOf } from "./keywords.ts";

/** A schema and the RFC 6901 pointer of its place in the document. */
export type Place = { readonly json: JsonText; readonly pointer: string };

/**
 * Where references lead inside one document: by JSON pointer, by identifier and by anchor. A schema with an identifier is
 * a resource of its own, against which the references inside it resolve. Nothing is ever fetched.
 */
export type References = {
  /** The target of `reference` as it stands in the schema `from`; `undefined` where it is not in this document. */
  resolve(from: JsonText, reference: string): Place | undefined;
};

export function references(root: JsonText, draft: Draft): References {
  const index = new Index(draft);
  // Any base will do for a document without identifier, as long as no author can write it.
  index.add({ json: root, pointer: "" }, { base: "tenon-schema:/", root: { json: root, pointer: "" } });
  return { resolve: (from, reference) => index.resolve(from, reference) };
}

type Resource = { readonly base: string; readonly root: Place };

class Index {
  readonly #draft: Draft;
  readonly #resourceOf = new Map<JsonText, Resource>();
  readonly #resources = new Map<string, Resource>();
  readonly #anchors = new Map<string, Place>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Registers a schema and those inside it, where keywords of the draft hold schemas. */
  add(place: Place, resource: Resource): void {
    this.#resources.set(resource.base, this.#resources.get(resource.base) ?? resource);
    const pending: (Place & { readonly resource: Resource })[] = [{ ...place, resource }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { json, pointer } = next;
      if (json.kind !== "object" || this.#resourceOf.has(json)) continue;
      const own = this.#identify(next, next.resource);
      this.#resourceOf.set(json, own);
      for (const [name, value] of json.entries) {
        const holds = keywordOf(name, this.#draft)?.holds;
        if (holds === undefined) continue;
        const at = pointerTo(pointer, name);
        // `items` and `dependencies` hold one schema or several, by draft.
        if (value.kind === "array") {
          value.items.forEach((item, i) => {
            pending.push({ json: item, pointer: pointerTo(at, i), resource: own });
          });
        } else if (holds === "map" && value.kind === "object") {
          for (const [key, item] of value.entries) {
            pending.push({ json: item, pointer: pointerTo(at, key), resource: own });
          }
        } else {
          pending.push({ json: value, pointer: at, resource: own });
        }
      }
    }
  }

  resolve(from: JsonText, reference: string): Place | undefined {
    const url = URL.parse(reference, this.#resourceOf.get(from)?.base);
    if (url === null) return undefined;
    const fragment = decodeFragment(url.hash.slice(1));
    const resource = this.#resources.get(withoutFragment(url));
    if (resource === undefined || fragment === undefined) return undefined;
    if (fragment === "") return resource.root;
    if (!fragment.startsWith("/")) return this.#anchors.get(`${resource.base}#${fragment}`);
    return this.#walk(resource, fragment);
  }

  /** The resource that a schema belongs to, which may be a new one: its own. Registers anchors on the way. */
  #identify(place: Place, outer: Resource): Resource {
    if (place.json.kind !== "object") return outer;
    const { entries } = place.json;
    if (refHidesSiblings(this.#draft) && entries.has("$ref")) return outer;
    let own = outer;
    const id = entries.get(this.#draft.name === "draft-04" ? "id" : "$id");
    if (id?.kind === "string") {
      const url = URL.parse(id.value, outer.base);
      // Up to draft 7 an identifier that is only a fragment names a place in the outer resource.
      if (url !== null && id.value.startsWith("#")) this.#anchors.set(`${outer.base}${id.value}`, place);
      else if (url !== null) {
        own = { base: withoutFragment(url), root: place };
        if (!this.#resources.has(own.base) || place.pointer === "") this.#resources.set(own.base, own);
      }
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const name = entries.get(keyword);
      if (name?.kind !== "string" || keywordOf(keyword, this.#draft) === undefined) continue;
      this.#anchors.set(`${own.base}#${name.value}`, place);
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
    this.add(place, around);
    return place;
  }
}

function withoutFragment(url: URL): string {
  return url.hash === "" ? url.href.replace(/#$/, "") : url.href.slice(0, -url.hash.length);
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
