import { AssertionError } from 'node:assert';
import t from 'tap';
import type { EvidencePolicy } from '../../../core/interfaces/privacy.ts';
import { openWeb, pinnedOfficial, repoFirst } from '../../../plugins/evidence/plugin.ts';
import { type EvidenceCase, evidenceTester } from '../../../testing.ts';

const url = 'https://docs.example/a';
const page = { name: url, url, trustTier: 'web', isAllowedHost: false } as const;
const file: EvidenceCase = { name: 'a file is let in', source: {}, expect: {} };
const early = { name: 'before anything was read', soFar: { repositoryUses: 0 } };

const builtIn: Readonly<Record<string, readonly [EvidencePolicy, readonly EvidenceCase[]]>> = {
  'repo-first': [repoFirst, [file, { ...early, expect: { refuse: 'the repository to be read' } }]],
  'pinned-official': [
    pinnedOfficial,
    [
      file,
      { name: 'a page of nobody', source: page, expect: { refuse: 'expects a host of `allowedDomains`' } },
      { name: 'a page of a host that is named', source: { ...page, isAllowedHost: true }, expect: {} },
    ],
  ],
  'open-web': [openWeb, [file, { ...early, expect: {} }, { name: 'a page', source: page, expect: {} }]],
};

for (const [name, [policy, cases]] of Object.entries(builtIn))
  t.test(`the evidence policy \`${name}\` passes the evidence tester`, (t) =>
    evidenceTester(t, { name, open: async () => policy, cases }),
  );

let calls = 0;
const broken: Readonly<Record<string, Partial<EvidencePolicy>>> = {
  'adds a tier': { rank: (tiers) => [...tiers, 'vendor-doc'] },
  'names a tier twice': { rank: (tiers) => [...tiers, ...tiers] },
  'answers otherwise each time': {
    order: () => {
      calls += 1;
      return calls;
    },
  },
  'gives no reason': { refuse: () => '' },
  'refuses everything': { refuse: () => 'no' },
};

t.test('the evidence tester rejects a policy that breaks a promise', async (t) => {
  for (const [how, change] of Object.entries(broken)) {
    const open = async () => ({ ...openWeb, ...change });
    await t.rejects(evidenceTester(undefined, { name: 'sample', open, cases: [file] }), AssertionError, how);
  }
});
