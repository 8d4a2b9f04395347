import { type Json, objectIn } from './json-parts.ts';
import { readFrame } from './read-frame.ts';
import { SaidFailureError } from './wire-format.ts';

/** A call's arguments for a vendor that wants them as an object: what is none stands under one name. */
export function argumentsAsObject(given: string): Json {
  return parsed(given) ?? { not_json: given };
}

/** The object that the arguments are; nothing where they are none. */
export function parsed(given: string): Json | undefined {
  try {
    return objectIn(readFrame(given));
  } catch (fault) {
    if (fault instanceof SaidFailureError) return undefined;
    throw fault;
  }
}
