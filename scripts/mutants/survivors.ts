/** A mutant that no test notices, and why that does no harm. */
export interface Survivor {
  readonly file: string;
  /** The line that it stands on, without its indentation. */
  readonly line: string;
  /** What becomes of what: `from → to`. */
  readonly change: string;
  readonly reason: string;
}

/** Rows of one file. */
function within(
  file: string,
  rows: readonly (readonly [line: string, change: string, reason: string])[],
): readonly Survivor[] {
  return rows.map(([line, change, reason]) => ({ file, line, change, reason }));
}

/** Mutants that `scripts/sample-mutants.ts` found unnoticed and that may stay so. */
export const survivors: readonly Survivor[] = [
  ...within('attest/approval/in-process-approver.ts', [
    [
      "detail: { path, expected: 'ed25519', found: signer.algorithm },",
      "'ed25519' → ''",
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('attest/approval/judge-approval.ts', [
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a source
      'return `gateReportDigest: the verdict is not the one that was signed (\\`${found.gateReportDigest.slice(0, 12)}\\`): ${how}`;',
      '12 → 13',
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('attest/approval/sign-approval.ts', [
    [
      "if (isWritError(cause, 'KEY_UNUSABLE'))",
      "'KEY_UNUSABLE' → ''",
      'the fault goes on with the same code, in other words',
    ],
  ]),
  ...within('attest/log/note-key.ts', [
    ["detail: { what: 'vkey' },", "'vkey' → ''", 'a person is told it; nothing is decided by it'],
  ]),
  ...within('attest/log/kept-checkpoint.ts', [
    [
      "if (fault.code === 'ENOENT') return value;",
      "if (fault.code === 'ENOENT') return value; → ;",
      'only where the folder goes between two looks at it, which nothing can time',
    ],
  ]),
  ...within('engine/run/work/lsp/session.ts', [
    [
      'for (let waited = 0; waited < times.answerMs; waited += 100) {',
      '< → <=',
      'a tenth of a second more before a silent server is given up',
    ],
  ]),
  ...within('gates/rules/undeclared-api.ts', [
    [
      '({ start, end }) => source.isAdded(start) || source.isAdded(end),',
      '|| → &&',
      'an address that is read begins and ends on one line',
    ],
  ]),
  ...within('attest/log/durable-file.ts', [
    [
      'await Promise.all([...changed].map(syncDirectory));',
      '...changed → ',
      'only a loss of power shows what was not synced',
    ],
  ]),
  ...within('attest/public/rekor-v2.ts', [
    [
      'hashes: proof.hashes ?? [],',
      'proof.hashes ?? [] → proof.hashes',
      'an entry alone in its log is then refused, and none is believed that was not',
    ],
  ]),
  ...within('attest/signer/id-token.ts', [
    [
      "const { value } = parseStrictJson(bytes, { code: 'SIGNER_FAILED', maxDepth: 8 });",
      "'SIGNER_FAILED' → ''",
      'the fault is caught beside it and goes no further',
    ],
    ['const maxTokenBytes = 16 * 1024;', '16 → 17', 'a bound of what is read, generous either way'],
  ]),
  ...within('attest/verify/certificate-claims.ts', [
    [
      'const [body] = readDerSequence(der) ?? [];',
      'readDerSequence(der) ?? [] → readDerSequence(der)',
      'a certificate that was parsed before is a sequence',
    ],
  ]),
  ...within('attest/verify/known-timestamps.ts', [
    [
      'timestamps: [one],',
      'one → ',
      'the bundle is verified with the time stamp behind it, and refused there where it does not hold',
    ],
  ]),
  ...within('attest/verify/read-statement.ts', [
    [
      'const isSame = signer.certificate?.equals(certificate ?? Buffer.alloc(0)) ?? certificate === undefined;',
      '0 → 1',
      'no certificate is one octet either',
    ],
  ]),
  ...within('attest/verify/shown-verdict.ts', [
    ['throw fault;', 'throw fault; → ;', 'reading a report throws nothing else'],
  ]),
  ...within('attest/verify/verify-policy.ts', [
    [
      "expected: claims.config ?? 'none',",
      "claims.config ?? 'none' → claims.config",
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('gates/direct-eval/candidates.ts', [
    ["'Eval',", "'Eval' → ''", 'a filter before the rule: more is looked at, nothing less'],
    ["'usort',", "'usort' → ''", 'a filter before the rule: more is looked at, nothing less'],
    ["'open',", "'open' → ''", 'a filter before the rule: more is looked at, nothing less'],
  ]),
  ...within('gates/direct-eval/perl.ts', [
    ["written[past] ?? ''", "written[past] ?? '' → written[past]", 'no bracket is named `undefined` either'],
  ]),
  ...within('gates/formats/cyclonedx.ts', [
    [
      "return listFault(component.components, 'components', refs, depth + 1);",
      '+ → -',
      'strict JSON refuses such depth before: 32 components are 64 levels',
    ],
  ]),
  ...within('gates/sast/python.ts', [
    [
      "return hit('sast/python-flask-debug', 'run(debug=True)', debug);",
      "'run(debug=True)' → ''",
      'a person is told it; nothing is decided by it',
    ],
  ]),
  ...within('gates/reports/tap.ts', [
    [
      'if (!level || !parent) return;',
      'if (!level || !parent) return; → ;',
      'a level is only closed where another one is above it',
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
  ...within('engine/run/judge/carry/carry-store.ts', [
    [
      "const digestLimits = { within: '/', maxEntries: 2 * carryLimits.entries, maxBytes: carryLimits.bytes };",
      '2 → 3',
      'what is kept was counted against the limit before, and its parents are fewer than it',
    ],
  ]),
  ...within('gates/direct-eval/python.ts', [
    [
      "builtins: ['eval', 'exec', 'compile'],",
      ", 'compile' → ",
      'a star import of `builtins` brings what the name means without it',
    ],
  ]),
  ...within('gates/direct-eval/perl.ts', [
    [
      'for (let index = 0; index < view.tokens.length; index += 1) {',
      '< → <=',
      'behind the last token a view shows one that is empty',
    ],
  ]),
  ...within('gates/scan/scan-pieces.ts', [
    ['needsAll: able.length < rules.length,', '< → <=', 'a spared reading: more is looked at, nothing less'],
  ]),
  ...within('gates/new-tests/javascript-cases.ts', [
    ['let next = at + 1;', '+ → -', 'it begins before the template, and walks over what lies there'],
  ]),
  ...within('attest/signer/keyless-key.ts', [
    ["detail: { what: 'id-token' },", "'id-token' → ''", 'a person is told it; nothing is decided by it'],
  ]),
  ...within('engine/run/work/agent/judge-agent-use.ts', [
    [
      'if (bytes > maxFileBytes) return `a file of more than $\u007bmaxFileBytes} bytes`;',
      '> → >=',
      'one octet of eight MiB, on either side of which memory is as safe',
    ],
  ]),
  ...within('engine/run/work/hands/execute-in-workspace.ts', [
    [
      'const timeoutSeconds = Math.min(Math.max(1, wanted), maxTimeoutSeconds);',
      '1 → 2',
      'the least time that a model can ask for a command: a second more lets nothing through',
    ],
  ]),
  ...within('engine/run/open/hold-run.ts', [
    ['left = true;', 'true → false', 'who reads a journal passes over the record that it then writes'],
  ]),
  ...within('engine/run/record/list-runs.ts', [
    [
      "if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;",
      'throw fault; → ;',
      'reading an object throws nothing else',
    ],
  ]),
  ...within('engine/run/open/reopen-landing.ts', [
    [
      'if (cancel !== undefined) return { ...stated, target: { ref, expected, checkedOutHere: false } };',
      'false → true',
      'a run that is ended moves no branch, which alone asks',
    ],
  ]),
  ...within('engine/run/work/agent/judge-agent-use.ts', [
    ['const maxFileBytes = 8 * 1024 * 1024;', '8 → 9', 'a bound of what is written, generous either way'],
  ]),
  ...within('gates/direct-eval/may-rename.ts', [
    ["'runpy',", "'runpy' → ''", 'nothing stands everywhere: more files are read, and none less'],
  ]),
  ...within('gates/direct-eval/java.ts', [
    ['? itemsOf(reading, object, depth + 1)', '+ → -', 'longer chains of calls are read, and none less'],
  ]),
  ...within('gates/tests-kept/merged-cases.ts', [
    [
      'for (let start = 0; start < source.text.length; ) {',
      '< → <=',
      'one empty line more, of which nothing is counted',
    ],
  ]),
  ...within('engine/run/work/agent/start-agent.ts', [
    ["signal.addEventListener('abort', stop, { once: true });", 'true → false', 'a signal aborts once'],
  ]),
  ...within('attest/verify/verify-approvals.ts', [
    [
      'const tips = [...new Set(reports.flatMap(({ authorship: { tip } }) => tip ?? []))];',
      'tip ?? [] → tip',
      'git knows no commit of no name, and then nobody had a hand in it',
    ],
  ]),
  ...within('engine/run/state/checks-without-use.ts', [
    [
      'const known = new Set(checksOf(spec).flatMap(({ check }) => check.id ?? []));',
      'check.id ?? [] → check.id',
      'every check of a contract has an id; types do not say so where those of a policy are added',
    ],
  ]),
  ...within('engine/run/judge/written-outside.ts', [
    [
      'if (scope.wholeRepository && scope.forbidden.length === 0) return undefined;',
      'if (scope.wholeRepository && scope.forbidden.length === 0) return undefined; → ;',
      'whoever looks finds nothing outside of everything',
    ],
  ]),
  ...within('attest/log/audit-ledger.ts', [
    [
      'for (let bundle = 0; bundle * tileWidth < head.size; bundle += 1) {',
      '< → <=',
      'one bundle more, of which nothing is there and nothing expected',
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
  ...within('gates/direct-eval/javascript-evidence.ts', [
    [
      "{ text: 'shell', form: /(?<![\\w$])shell[\"'`\\]]{0,2}\\s{0,8}[:,}=]/y },",
      "{ text: 'shell', form: /(?<![\\w$])shell[\"'`\\]]{0,2}\\s{0,8}[:,}=]/y }, → ",
      'who is called stands on the line or in the file, and is found',
    ],
  ]),
  ...within('engine/run/open/start-run.ts', [
    [
      'await lock.release().catch(() => undefined);',
      'await lock.release().catch(() => undefined); → ;',
      'the lock lies in the directory that goes right after',
    ],
  ]),
  ...within('engine/run/state/open-evidence.ts', [
    [
      'const beside = ground.config.evidence.plugins.flatMap((name) => ground.plugins.evidence.get(name) ?? []);',
      'ground.plugins.evidence.get(name) ?? [] → ground.plugins.evidence.get(name)',
      'a name that no plugin brings is refused before any work',
    ],
  ]),
  ...within('engine/run/state/configured-model.ts', [
    [
      'const values = Object.hasOwn(settings, key) ? (settings[key] ?? []) : undefined;',
      'settings[key] ?? [] → settings[key]',
      'a key that a backend has is there with its values; types do not say so',
    ],
  ]),
];
