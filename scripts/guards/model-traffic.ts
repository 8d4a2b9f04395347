import { type Guard, within } from './guard.ts';

const traffic = 'test/providers/traffic.test.ts';
const keys = 'test/providers/find-key.test.ts';
const ollama = 'test/providers/ollama/ollama.test.ts';

const replayed = 'test/coder/record-and-replay.test.ts';
const whole = 'what was recorded of a run is played back offline';

/** Where a provider's key may go, and what a recording of its traffic holds and is taken for. */
export const guards: readonly Guard[] = [
  ...within('providers/wire/record-traffic.ts', traffic, [
    [
      'a secret is masked over the cuts of a body',
      'mask.bytes(Buffer.concat(pieces))',
      'Buffer.concat(pieces)',
      'a key is in no octet that is written',
    ],
    [
      'headers are kept by name',
      '.filter(([name]) => isKeptHeader(name))',
      '',
      'a key is in no octet that is written',
    ],
    [
      'a file of a recording is a new one',
      'constants.O_EXCL | ',
      '',
      'a recording is made in an empty directory',
    ],
    [
      'a recording with a gap is none',
      '      if (broken !== undefined) throw broken;\n      count += 1;',
      '      count += 1;',
      'a recording is made in an empty directory',
    ],
  ]),
  ...within('providers/wire/replay-traffic.ts', traffic, [
    [
      'a question is compared with the recorded one',
      'if (odd !== undefined) continue;',
      '',
      'another question than the recorded one',
    ],
    [
      'how long a command took is not compared',
      'return withoutTimes(compared);',
      'return compared;',
      'Tasks side by side ask in any order',
    ],
    ['what was played is not played again', 'played.add(number);', '', 'Tasks side by side ask in any order'],
    [
      'one recording has one provider',
      'if (canonicalize(openedNow) !== openedThen)',
      'if (false)',
      'a directory that is no recording is refused',
    ],
  ]),
  ...within('bin/command-parts/traffic-recorder.ts', replayed, [
    ['a plan records nothing', 'if (dry) return stream;', '', whole],
  ]),
  ...within('bin/command-parts/model-choice.ts', replayed, [
    ['a recording is played as it is', 'refuseBeside(options);', '{}', whole],
    [
      'what says how a model is asked wants one',
      'if (stray === undefined) return;',
      'return;',
      'flags of a provider reach it',
    ],
  ]),
  ...within('bin/command-parts/reach-provider.ts', replayed, [
    [
      'an env-file wins',
      'values?.get(name) ?? env[name]',
      'env[name] ?? values?.get(name)',
      'an env-file wins over the process',
    ],
  ]),
  ...within('coder/work.ts', replayed, [
    [
      'the same Task has the same name for its prompt',
      'sha256Hex(standingInstructions + told)',
      'order.runId',
      'a prompt is kept under one name',
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', replayed, [
    ['what differs from a recording is told at once', "  'RECORDING_DIFFERS',\n", '', whole],
  ]),
  ...within('providers/wire/wire-provider.ts', 'test/providers/sources.test.ts', [
    ['a turn costs what the table says', '    costUnits,\n', '', 'what a default model costs is known'],
  ]),
  ...within('providers/wire/traffic-file.ts', traffic, [
    [
      'a recording has no headers that may be a key',
      'if (foreign !== undefined)',
      'if (false)',
      'a directory that is no recording is refused',
    ],
  ]),
  ...within('providers/find-key.ts', keys, [
    [
      'what cannot stand in a header is no key',
      'if (fault !== undefined) throw',
      "if (fault === '') throw",
      'what cannot stand in a header is no key',
    ],
  ]),
  ...within('providers/ollama/ollama-format.ts', ollama, [
    [
      'the key of a vendor goes to the vendor',
      'key === undefined || !isCloud(base)',
      'key === undefined',
      'the key goes to the cloud of the vendor alone',
    ],
  ]),
];
