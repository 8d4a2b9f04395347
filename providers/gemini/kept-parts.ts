import type { Json } from '../wire/json-parts.ts';
import { brokenReply } from '../wire/wire-format.ts';

/** A part of a reply as it goes back. */
export type KeptPart =
  | { readonly thought?: true; readonly text: string; readonly thoughtSignature?: string }
  | { readonly functionCall: Json; readonly thoughtSignature?: string };

/** Parts of one reply that cannot be told as one: a vendor that signs every word has lost its way. */
const maxParts = 4096;

/**
 * The parts of a reply, in order. Text without a signature that came in pieces is one part again; a part with one is
 * kept as it came, empty too, since the signature belongs to that part in that place (docs/thought-signatures).
 */
export function keptParts(): { add(part: KeptPart): void; parts(): readonly KeptPart[] } {
  const parts: KeptPart[] = [];
  let pieces: string[] = [];
  let thought = false;
  const close = (): void => {
    if (pieces.length > 0) parts.push({ ...(thought ? { thought } : {}), text: pieces.join('') });
    pieces = [];
    if (parts.length > maxParts) throw brokenReply(`more than ${maxParts} parts in one message`);
  };
  return {
    add(part) {
      const isPiece = 'text' in part && part.thoughtSignature === undefined;
      if (isPiece && part.text === '') return;
      if (!isPiece || (part.thought === true) !== thought) close();
      if (!isPiece) {
        parts.push(part);
        return;
      }
      thought = part.thought === true;
      pieces.push(part.text);
    },
    parts() {
      close();
      return parts;
    },
  };
}
