import { fail, ok, type Result } from "../generation/result.ts";
import { ggufTokenTypes, type TokenizerCard } from "../models/card.ts";
import { textAt } from "../models/text-table.ts";
import { type AddedToken, partitionBy } from "./added-tokens.ts";
import { assemble } from "./assemble.ts";
import { byteTokensOf, pieceEncoder } from "./encoder.ts";
import { lazyPairs, rankedPairs, scoredPairs } from "./pairs.ts";
import { preTokenizerNamed } from "./pre-tokenizers.ts";
import { spaceSplit } from "./space-split.ts";
import { stopTokensOf } from "./stop-tokens.ts";
import { tokenIndex } from "./token-index.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { vocabularyOf } from "./vocabulary.ts";

/**
 * A tokenizer from a GGUF file's metadata. Rules and order as in llama.cpp (llama-vocab.cpp), except that text never
 * becomes a control token unless `special` says so. Fails on a pre-tokenizer that is not known, by its name.
 */
export function ggufTokenizer(card: Extract<TokenizerCard, { kind: "gguf" }>): Result<Tokenizer, string> {
  const sentencePiece = card.model === "llama";
  const preTokenizer = sentencePiece ? undefined : preTokenizerNamed(card.pre);
  if (!sentencePiece && preTokenizer === undefined) return fail(`the pre-tokenizer ${card.pre} is not supported`);

  const { tokens, types, special } = card;
  const spelling = sentencePiece ? "sentencepiece" : "byte-level";
  const stopTokens = stopTokensOf(special, tokens, (id) => types[id] === ggufTokenTypes.control);
  const added = addedTokens(card, new Set(stopTokens));
  const vocabulary = vocabularyOf(tokens, types, spelling, new Set(stopTokens));
  const index = tokenIndex(vocabulary, (token) => types[token] === ggufTokenTypes.byte);
  const encodePiece = pieceEncoder({
    index,
    pairs: sentencePiece ? scoredPairs(card.scores, index) : lazyPairs(() => rankedPairs(card.merges, spelling, index)),
    symbols: sentencePiece ? "characters" : "bytes",
    byteTokens: byteTokensOf(index),
    wholePieces: preTokenizer?.wholePieces ?? false,
    // Byte-level vocabularies name an unknown token that was never trained as one, such as the end of a text.
    unknown: sentencePiece ? special.unknown : undefined,
  });
  const splitSpaces = spaceSplit(vocabulary);
  return ok(
    assemble({
      vocabulary,
      index,
      added: new Map(added.map(({ text, id }) => [text, id])),
      partition: partitionBy(added),
      encodeSection: (text, sectionIndex, _special, out) => {
        if (preTokenizer !== undefined) {
          for (const piece of preTokenizer.split(text, sectionIndex)) encodePiece(piece, out);
          return;
        }
        // Every section begins a text of its own: one after an added token gets the prefix again.
        const spaced = text.replaceAll("▁", " ");
        for (const piece of splitSpaces(card.addSpacePrefix ? ` ${spaced}` : spaced)) encodePiece(piece, out);
      },
      special,
      stopTokens,
    }),
  );
}

function addedTokens(
  { tokens, types }: Extract<TokenizerCard, { kind: "gguf" }>,
  stopTokens: ReadonlySet<number>,
): AddedToken[] {
  const added: AddedToken[] = [];
  for (let id = 0; id < tokens.count; id++) {
    const type = types[id];
    const special = type === ggufTokenTypes.control || type === ggufTokenTypes.unknown || stopTokens.has(id);
    if (!special && type !== ggufTokenTypes.userDefined) continue;
    added.push({ id, text: textAt(tokens, id), special, stripLeft: false, stripRight: false });
  }
  return added;
}
