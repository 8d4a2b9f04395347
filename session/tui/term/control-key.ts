import { charKey, type Key, keyOf } from './key.ts';

/** The key that one octet below the blank is, or the last of ASCII; nothing for any other. */
export function controlKey(octet: number): Key | undefined {
  if (octet === 0x0d) return keyOf('enter');
  if (octet === 0x09) return keyOf('tab');
  if (octet === 0x08 || octet === 0x7f) return keyOf('backspace');
  if (octet === 0x1b) return keyOf('escape');
  if (octet === 0x00) return charKey(' ', { ctrl: true });
  // Not as a capital: what was held down beside Ctrl cannot be told.
  return octet < 0x20 ? charKey(String.fromCharCode(octet + 0x40).toLowerCase(), { ctrl: true }) : undefined;
}
