import { maskValues } from '../../providers/wire/mask-values.ts';

/** What a session takes out of words: what is known when it opens, and what a person says in confidence later. */
export interface SessionMask {
  text(found: string): string;
  hide(value: string): void;
}

/** Values that one session may be told in confidence. */
const mostHidden = 1000;

export function openSessionMask(known: readonly string[]): SessionMask {
  let values = [...known];
  let mask = maskValues(values);
  return {
    text: (found) => mask.text(found),
    hide(value) {
      if (values.includes(value)) return;
      values = [...known, ...values.slice(known.length).slice(1 - mostHidden), value];
      mask = maskValues(values);
    },
  };
}
