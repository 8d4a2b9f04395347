import { type Guard, tests, within } from './guard.ts';

const faults = 'test/engine/run/seal-faults.test.ts';
const modes = 'test/engine/run/state/evidence-modes.test.ts';
const rekor = 'test/attest/public/rekor.test.ts';

/** Guards whose removal no test noticed once. */
export const guards: readonly Guard[] = [
  ...within('engine/tool/acl/command-entry.ts', 'test/engine/tool/acl.test.ts', [
    [
      'a deny rule and an expansion without quotes',
      '!given.single || word.startsWith(given.head)',
      'word.startsWith(given.head)',
      'a deny rule goes before any allow rule',
    ],
    [
      'a deny rule and what the shell expands',
      'if (given.literal === undefined) return !given.single || word.startsWith(given.head);',
      '',
      'a deny rule goes before any allow rule',
    ],
  ]),
  ...within('engine/tool/spawn.ts', 'test/engine/tool/spawn.test.ts', [
    [
      'an end that met nobody',
      'again ??= setInterval(end, endAgainMs, why);',
      '',
      'an end that met nobody is tried again',
    ],
    [
      'an answer to what is to end',
      'if (!announced) announcement?.destroy();',
      '',
      'a command whose end was asked for before',
    ],
  ]),
  ...within('engine/run/judge/run-command.ts', 'test/engine/run/judge/guarded-command.test.ts', [
    [
      'what a guard of tools refuses',
      'acl.refusal ?? (await attempt.means.engine.hooks.tool.guard.call(tool))',
      'acl.refusal',
      'a command of a check that a guard',
    ],
  ]),
  ...within('engine/run/state/record-box.ts', modes, [
    [
      'mode of a part of the record',
      'await writeFile(draft, bytes, { mode: 0o600 });',
      'await writeFile(draft, bytes);',
      'a part of the record is for its owner',
    ],
    [
      'mode of the directories of a record',
      'await mkdir(dirname(target), { recursive: true, mode: 0o700 });',
      'await mkdir(dirname(target), { recursive: true });',
      'a part of the record is for its owner',
    ],
    [
      'a part of the record that is gone',
      'if (memory) throw corrupt(path, fault);',
      '',
      'a part of the record that was put there and is gone',
    ],
  ]),
  ...within('engine/run/state/artifact-box.ts', modes, [
    [
      'mode of an artifact',
      'await writeFile(path, bytes, { mode: 0o600 });',
      'await writeFile(path, bytes);',
      'an artifact is for its owner',
    ],
    [
      'mode of the directories of artifacts',
      'await mkdir(dirname(path), { recursive: true, mode: 0o700 });',
      'await mkdir(dirname(path), { recursive: true });',
      'an artifact is for its owner',
    ],
  ]),
  ...within('engine/run/seal/move-target.ts', 'test/engine/run/run-edges.test.ts', [
    [
      'files that were changed while a run went on',
      'target.checkedOutHere ? await dirtyPaths(repository, files) : []',
      '(await dirtyPaths(repository, [])).slice(0, files.length * 0)',
      'a path that is changed during the run is kept',
    ],
  ]),
  ...within('engine/run/seal/seal.ts', faults, [
    [
      'revocation of what could not be recorded',
      'await revoke(attempt, attested, `the change was not recorded',
      'await Promise.resolve(`the change was not recorded',
      'a claim that was logged is taken back',
    ],
  ]),
  ...within('engine/run/seal/move-target.ts', faults, [
    [
      'a branch that has moved already',
      'if ((await readRef(repository, target.ref)) === commit) return {};',
      '',
      'a branch that this run has moved already',
    ],
  ]),
  ...within('core/base/service-url.ts', 'test/engine/config/config.test.ts', [
    [
      'a password without a name in the URL of a service',
      "url.username !== '' || url.password !== ''",
      "url.username !== ''",
      'a public log is said in one way',
    ],
    [
      'a name without a password in the URL of a service',
      "url.username !== '' || url.password !== ''",
      "url.password !== ''",
      'a public log is said in one way',
    ],
  ]),
  ...within('engine/spec/rules/locator-form.ts', 'test/engine/spec/rules.test.ts', [
    ['a password in a locator', "url.password === '' &&", '', 'locators of every form'],
  ]),
  ...within(
    'readers/sensitive/secrets/secret-patterns.ts',
    'test/readers/sensitive/secrets/find-secrets.test.ts',
    [
      [
        'a password without a name in an address',
        ':\\/\\/[^\\s:@/"\'<>`]{0,128}:([^\\s@/"\'<>`]{1,256}(?:@',
        ':\\/\\/[^\\s:@/"\'<>`]{1,128}:([^\\s@/"\'<>`]{1,256}(?:@',
        'a value of every known format',
      ],
    ],
  ),
  ...within('attest/verify/verify-log.ts', tests.attacks, [
    [
      'size of the tree of an inclusion proof',
      'proof.treeSize === checkpoint.size &&',
      '',
      'a proof of another size or root',
    ],
    [
      'root of an inclusion proof',
      'checkpoint.root.equals(proof.rootHash) &&',
      '',
      'a proof of another size or root',
    ],
  ]),
  ...within('attest/log/rebuild-ledger.ts', 'test/attest/log/rebuild-ledger.test.ts', [
    [
      'tiles are made of what was signed',
      'if (!(await rootOver(leaves)).equals(head.root))',
      'if (leaves.length < 0)',
      'tiles are made anew',
    ],
  ]),
  ...within('attest/verify/verify-attestation.ts', 'test/attest/material/ecosystems.test.ts', [
    [
      'what is asked of a summary, of a signed message',
      'await judgeSummary(list, options.summary, undefined);',
      '',
      'what is asked of a statement is missing',
    ],
  ]),
  ...within('gates/reports/tally.ts', 'test/gates/reports/tally.test.ts', [
    [
      'contradictions of a part of a report',
      'for (const { severity, message } of other.contradictions) this.contradict(severity, message);',
      '',
      'what a part of a report counted',
    ],
  ]),
  ...within('gates/checks/stream-report.ts', 'test/gates/checks/stream-report.test.ts', [
    [
      'a stream that was cut is no report',
      'begins !== undefined && !stdout.truncated',
      'begins !== undefined',
      'of a stream that was cut',
    ],
  ]),
  ...within('gates/source/changed-source.ts', 'test/gates/source/changed-source.test.ts', [
    [
      'links and submodules are no sources',
      "(file.newMode === undefined || file.newMode.startsWith('100'))",
      'true',
      'a file counts as one',
    ],
  ]),
  ...within('attest/approval/signer-time.ts', 'test/attest/approval/signer-time.test.ts', [
    [
      'the zone of a time of signers',
      'const time = isUtc\n',
      'const time = true\n',
      'a time with `Z` is in UTC',
    ],
  ]),
  ...within('attest/public/verify-public-proof.ts', rekor, [
    [
      'size of the tree of a public proof',
      'proof.treeSize !== checkpoint.size || !checkpoint.root.equals(proof.rootHash)',
      '!checkpoint.root.equals(proof.rootHash)',
      'Rekor v2: an answer that lies',
    ],
    [
      'root of a public proof',
      'proof.treeSize !== checkpoint.size || !checkpoint.root.equals(proof.rootHash)',
      'proof.treeSize !== checkpoint.size',
      'Rekor v2: an answer that lies',
    ],
  ]),
  ...within('readers/packages/yaml.ts', 'test/readers/packages/package-set.test.ts', [
    [
      'a second document',
      "const logLevel = 'error';",
      "const logLevel = 'silent';",
      'a second document of YAML hides nothing',
    ],
  ]),
  ...within('readers/packages/npm/pnpm-lock.ts', 'test/readers/packages/package-set.test.ts', [
    [
      'packages of one document hide none of the other',
      "const own = isOfTools ? 'tools of pnpm: ' : '';",
      "const own = '';",
      'a lockfile of pnpm has one document or two',
    ],
  ]),
  ...within('core/contract/scope-verdict.ts', 'test/engine/plan/scope.test.ts', [
    [
      'the lockfile of a forbidden manifest',
      'writes(directory + manifest) && !forbids(directory + manifest)',
      'writes(directory + manifest)',
      'the lockfile of a manifest that is forbidden',
    ],
  ]),
];
