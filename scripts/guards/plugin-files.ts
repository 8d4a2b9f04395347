import { type Guard, within } from './guard.ts';

const handedFiles = 'test/engine/plugin-trust/handed-files.test.ts';

/** Files of the user's own that plugins are handed: none of writ's, and none is told on. */
export const guards: readonly Guard[] = [
  ...within('engine/plugin-trust/manifest-needs.ts', handedFiles, [
    [
      'keys and vaults of writ in manifests',
      '  if (own >= 0)',
      '  if (own === 99)',
      'a manifest that asks for keys or vaults of writ is refused by the name',
    ],
  ]),
  ...within('engine/plugin-trust/own-places.ts', handedFiles, [
    [
      'keys of writ behind other directories',
      ' || (await isOwn()))',
      ')',
      'what is writ’s own is handed to no plugin, whatever leads there',
    ],
    [
      'keys of writ under a second name',
      '  if (names > 1 || ',
      '  if (',
      'a key of writ under a second name is no plugin’s either',
    ],
  ]),
  ...within('engine/plugin-trust/parts/handed.ts', handedFiles, [
    [
      'lines of files in what is said',
      'flatMap(linesToMask)',
      'flatMap(() => [])',
      'lines of files that a plugin was handed are masked in what it says',
    ],
  ]),
];
