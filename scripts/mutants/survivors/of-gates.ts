import { type Survivor, within } from './survivor.ts';

/** Mutants of `gates` that no test notices and that may stay so. */
export const ofGates: readonly Survivor[] = [
  ...within('gates/direct-eval/candidates.ts', [
    ["'Eval',", "'Eval' → ''", 'a filter before the rule: more is looked at, nothing less'],
    ["'usort',", "'usort' → ''", 'a filter before the rule: more is looked at, nothing less'],
    ["'open',", "'open' → ''", 'a filter before the rule: more is looked at, nothing less'],
    ["'RunS',", "'RunS' → ''", 'a filter before the rule: more is looked at, nothing less'],
  ]),
  ...within('gates/direct-eval/java.ts', [
    ['? itemsOf(reading, object, depth + 1)', '+ → -', 'longer chains of calls are read, and none less'],
  ]),
  ...within('gates/direct-eval/javascript-evidence.ts', [
    [
      "{ text: 'shell', form: /(?<![\\w$])shell[\"'`\\]]{0,2}\\s{0,8}[:,}=]/y },",
      "{ text: 'shell', form: /(?<![\\w$])shell[\"'`\\]]{0,2}\\s{0,8}[:,}=]/y }, → ",
      'who is called stands on the line or in the file, and is found',
    ],
  ]),
  ...within('gates/direct-eval/may-rename.ts', [
    ["'runpy',", "'runpy' → ''", 'nothing stands everywhere: more files are read, and none less'],
  ]),
  ...within('gates/direct-eval/perl.ts', [
    ["written[past] ?? ''", "written[past] ?? '' → written[past]", 'no bracket is named `undefined` either'],
  ]),
  ...within('gates/direct-eval/perl.ts', [
    [
      'for (let index = 0; index < view.tokens.length; index += 1) {',
      '< → <=',
      'behind the last token a view shows one that is empty',
    ],
  ]),
  ...within('gates/direct-eval/python.ts', [
    [
      "builtins: ['eval', 'exec', 'compile'],",
      ", 'compile' → ",
      'a star import of `builtins` brings what the name means without it',
    ],
  ]),
  ...within('gates/formats/cyclonedx.ts', [
    [
      "return listFault(component.components, 'components', refs, depth + 1);",
      '+ → -',
      'strict JSON refuses such depth before: 32 components are 64 levels',
    ],
  ]),
  ...within('gates/new-tests/javascript-cases.ts', [
    ['let next = at + 1;', '+ → -', 'it begins before the template, and walks over what lies there'],
  ]),
  ...within('gates/new-tests/python-cases.ts', [
    [
      'const { indent } = lines[index] ?? { indent: 0 };',
      'lines[index] ?? { indent: 0 } → lines[index]',
      'it is asked of lines that there are; types do not say so',
    ],
  ]),
  ...within('gates/reports/tap.ts', [
    [
      'if (!level || !parent) return;',
      'if (!level || !parent) return; → ;',
      'a level is only closed where another one is above it',
    ],
  ]),
  ...within('gates/rules/undeclared-api.ts', [
    [
      '({ start, end }) => source.isAdded(start) || source.isAdded(end),',
      '|| → &&',
      'an address that is read begins and ends on one line',
    ],
  ]),
  ...within('gates/rules/suppressions.ts', [
    [
      "return form.exec(diff.toString('latin1', at, Math.min(end, at + maxFormBytes)))?.[0].length ?? 0;",
      '0 → 1',
      'whoever asks for the length has seen that the form is there',
    ],
  ]),
  ...within('gates/sast/python.ts', [
    [
      "return hit('sast/python-flask-debug', 'run(debug=True)', debug);",
      "'run(debug=True)' → ''",
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('gates/scan/cut-diff.ts', [
    [
      'const tail = pending.length - lastFeed - 1;',
      '1 → 2',
      'an octet of the longest line that is read, which is a bound of memory',
    ],
  ]),
  ...within('gates/scan/scan-pieces.ts', [
    ['needsAll: able.length < rules.length,', '< → <=', 'a spared reading: more is looked at, nothing less'],
  ]),
  ...within('gates/tests-kept/merged-cases.ts', [
    [
      'for (let start = 0; start < source.text.length; ) {',
      '< → <=',
      'one empty line more, of which nothing is counted',
    ],
  ]),
  ...within('gates/sast/rows.ts', [
    [
      "words: ['curl', '--no-check-certificate', 'ssl', 'SSL', 'TLS', 'HTTPSVERIFY'],",
      "'--no-check-certificate' → ''",
      'a filter before the rule: more is looked at, nothing less',
    ],
  ]),
  ...within('gates/tests-kept/match-cases.ts', [
    [
      'return body.length >= 24;',
      '>= → >',
      'one of just that length shares all of its words with the other, and is matched by them',
    ],
  ]),
];
