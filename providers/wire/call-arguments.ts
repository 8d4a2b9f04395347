/* Parses the arguments of a model's tool call. */
import { readFrame } from './read-frame.ts';
import { type Json, objectIn, SaidFailureError } from './wire-format.ts';

/**
 * Converts a call's arguments for a vendor that requires an object and otherwise refuses the conversation. Any other
 * value is placed under `malformed`.
 */
export function argumentsAsObject(given: string): Json {
  const value = jsonIn(given);
  return objectIn(value) ?? { malformed: value ?? given };
}

/** Parses the JSON that a model wrote; `undefined` if it is not JSON, or larger than a frame. */
export function jsonIn(given: string): unknown {
  try {
    return readFrame(given);
  } catch (fault) {
    if (fault instanceof SaidFailureError) return undefined;
    throw fault;
  }
}
