import { type Survivor, within } from './survivor.ts';

/** Mutants of `engine/run` that no test notices and that may stay so. */
export const ofRun: readonly Survivor[] = [
  ...within('engine/run/judge/carry/carry-store.ts', [
    [
      "const digestLimits = { within: '/', maxEntries: 2 * carryLimits.entries, maxBytes: carryLimits.bytes };",
      '2 → 3',
      'what is kept was counted against the limit before, and its parents are fewer than it',
    ],
  ]),
  ...within('engine/run/judge/written-outside.ts', [
    [
      'if (scope.wholeRepository && scope.forbidden.length === 0) return undefined;',
      'if (scope.wholeRepository && scope.forbidden.length === 0) return undefined; → ;',
      'whoever looks finds nothing outside of everything',
    ],
  ]),
  ...within('engine/run/open/hold-run.ts', [
    ['left = true;', 'true → false', 'who reads a journal passes over the record that it then writes'],
  ]),
  ...within('engine/run/open/reopen-landing.ts', [
    [
      'if (cancel !== undefined) return { ...stated, target: { ref, expected, checkedOutHere: false } };',
      'false → true',
      'a run that is ended moves no branch, which alone asks',
    ],
  ]),
  ...within('engine/run/open/start-run.ts', [
    [
      'await lock.release().catch(() => undefined);',
      'await lock.release().catch(() => undefined); → ;',
      'the lock lies in the directory that goes right after',
    ],
  ]),
  ...within('engine/run/record/list-runs.ts', [
    [
      "if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;",
      'throw fault; → ;',
      'reading an object throws nothing else',
    ],
  ]),
  ...within('engine/run/record/shown-reports.ts', [
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      '.map((one, n) => [`${earlierFolder}/${n + 1}.json`, Buffer.from(`${canonicalize(one)}\\n`)]);',
      '1 → 2',
      'the numbers keep the files apart and in order',
    ],
  ]),
  ...within('engine/run/seal/seal.ts', [
    [
      "const place = await steps.once('rolled-back', () => (steps.ended('record/run') ? 'beside' : 'instead'));",
      "'rolled-back' → ''",
      'the step has another name in the journal, which no other step of the seal has',
    ],
    [
      "const place = await steps.once('rolled-back', () => (steps.ended('record/run') ? 'beside' : 'instead'));",
      "'instead' → ''",
      'what is not `beside` is `instead`, whatever it is called',
    ],
  ]),
  ...within('engine/run/state/checks-without-use.ts', [
    [
      'const known = new Set(checksOf(spec).flatMap(({ check }) => check.id ?? []));',
      'check.id ?? [] → check.id',
      'every check of a contract has an id; types do not say so where those of a policy are added',
    ],
  ]),
  ...within('engine/run/state/configured-model.ts', [
    [
      'const values = Object.hasOwn(settings, key) ? (settings[key] ?? []) : undefined;',
      'settings[key] ?? [] → settings[key]',
      'a key that a backend has is there with its values; types do not say so',
    ],
  ]),
  ...within('engine/run/state/open-evidence.ts', [
    [
      'const beside = ground.config.evidence.plugins.flatMap((name) => ground.plugins.evidence.get(name) ?? []);',
      'ground.plugins.evidence.get(name) ?? [] → ground.plugins.evidence.get(name)',
      'a name that no plugin brings is refused before any work',
    ],
  ]),
  ...within('engine/run/work/agent/judge-agent-use.ts', [
    [
      'if (bytes > maxFileBytes) return `a file of more than $\u007bmaxFileBytes} bytes`;',
      '> → >=',
      'one octet of eight MiB, on either side of which memory is as safe',
    ],
  ]),
  ...within('engine/run/work/agent/judge-agent-use.ts', [
    ['const maxFileBytes = 8 * 1024 * 1024;', '8 → 9', 'a bound of what is written, generous either way'],
  ]),
  ...within('engine/run/work/agent/start-agent.ts', [
    ["signal.addEventListener('abort', stop, { once: true });", 'true → false', 'a signal aborts once'],
  ]),
  ...within('engine/run/work/hands/execute-in-workspace.ts', [
    [
      'const timeoutSeconds = Math.min(Math.max(1, wanted), maxTimeoutSeconds);',
      '1 → 2',
      'the least time that a model can ask for a command: a second more lets nothing through',
    ],
  ]),
  ...within('engine/run/work/lsp/session.ts', [
    [
      'for (let waited = 0; waited < times.answerMs; waited += 100) {',
      '< → <=',
      'a tenth of a second more before a silent server is given up',
    ],
  ]),
];
