import { readFrame } from './read-frame.ts';
import { type Json, objectIn, SaidFailureError } from './wire-format.ts';

/**
 * A call's arguments for a vendor that wants them as an object, and refuses the conversation otherwise: what is none
 * stands under one name.
 */
export function argumentsAsObject(given: string): Json {
  const value = jsonIn(given);
  return objectIn(value) ?? { malformed: value ?? given };
}

/** The JSON that a model wrote; nothing where it wrote none, or more than a frame may hold. */
export function jsonIn(given: string): unknown {
  try {
    return readFrame(given);
  } catch (fault) {
    if (fault instanceof SaidFailureError) return undefined;
    throw fault;
  }
}
