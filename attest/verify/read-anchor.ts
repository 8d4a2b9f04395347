import type { KeyObject } from 'node:crypto';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { keyIdOf } from '../encoding/public-key.ts';
import type { AnchorOrigin, SigningAnchor } from './anchors.ts';

/** An anchor as somebody wrote it down. */
export interface AnchorText {
  /** Its path, or the option that holds it, whose value might be a secret that was given by mistake. */
  readonly name: string;
  readonly text: string;
}

/** What the parser of an anchor refuses is a fault of whoever named it, never an answer about what is verified. */
export function readAnchor<T>({ name, text }: AnchorText, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (fault) {
    if (!isWritError(fault, 'KEY_UNUSABLE') && !isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    throw new WritError('ANCHOR_UNUSABLE', {
      message: `\`${name}\` is no trust anchor: ${fault.message}`,
      detail: { anchor: name },
      cause: fault,
    });
  }
}

/** A key that is believed, and why. */
export function toAnchor(key: KeyObject, from: AnchorOrigin): SigningAnchor {
  return { keyId: keyIdOf(key), key, from };
}
