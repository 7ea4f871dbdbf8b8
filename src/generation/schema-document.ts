/** A schema that references of other schemas may lead to. */
export type SchemaDocument = {
  /**
   * What references call it, and messages too: an absolute URI, or a relative one, which a schema without an identifier of its own refers
   * to as it stands.
   */
  readonly name: string;
  /** A second address. */
  readonly alias?: string;
  /** JSON. */
  readonly text: string;
};
