import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { serveV1, serveV2 } from '../../test/attest/public/log-servers.ts';
import { identity, issuer, serveAuthorities, tokenOf } from '../../test/attest/signer/authorities.ts';
import type { Json } from '../../test/compatibility/old-state.ts';
import type { Place } from './place.ts';
import { type Expectation, type Recipe, type RunData, runSample, sealedClaims } from './recipe.ts';

/** Sealed runs, one for each log mode, and what is exported of them. */
export const logRecipes: Readonly<Record<string, Recipe>> = {
  'sealed-without-a-log': {
    about: 'a run sealed without a transparency log',
    async make(place) {
      return sealedClaims(await runSample(place, { provenance: { transparencyLog: { mode: 'none' } } }));
    },
  },
  'sealed-without-provenance': {
    about: 'a run committed without provenance',
    async make(place) {
      const provenance = { requireSlsaProvenance: false, transparencyLog: { mode: 'none' } };
      return sealedClaims(await runSample(place, { provenance })).slice(1);
    },
  },
  'sealed-rekor-v1': {
    about: 'a run logged in a public log (Rekor v1)',
    async make(place) {
      return await withServers(async (t) => publicRun(place, await serveV1(t), 'v1'));
    },
  },
  'sealed-rekor-v2': {
    about: 'a run logged in a public log (Rekor v2)',
    async make(place) {
      return await withServers(async (t) => publicRun(place, await serveV2(t), 'v2'));
    },
  },
  'sealed-keyless': {
    about: 'a run sealed keyless, with a certificate that has expired since',
    sample: 1,
    async make(place) {
      return await withServers(async (t) => {
        const { url, log, root } = await serveAuthorities(t);
        const config = `[log]\nurl = "${log.url}"\napi = "v1"\ntrusted_root = ".writ/trust/root.json"\n[signer]\nkey = "keyless"\nfulcio_url = "${url}"\n`;
        place.commit('Keyless', { '.writ/trust/root.json': root(), '.writ/config.toml': config });
        place.file('root.json', root());
        const run = await runSample(place, publicLog, { env: { SIGSTORE_ID_TOKEN: tokenOf() } });
        const anchors = ['--trusted-root', '../root.json', '--identity', identity, '--issuer', issuer];
        await place.writ(['report', run.run_id, '--bundle', '../evidence.json']);
        return [
          ...sealedClaims(run, anchors),
          { run: ['verify', '../evidence.json', '--replay', ...anchors] },
        ];
      });
    },
  },
  'ledger-with-a-mirror': {
    about: 'three runs in the internal ledger, which has a mirror in git',
    async make(place) {
      place.commit('Mirror', { '.writ/config.toml': '[log]\nmirror = "git"\n' });
      const base = place.git('rev-parse', 'HEAD');
      const run = await runSample(place);
      for (const id of ['sample-intent-0002', 'sample-intent-0003']) {
        place.git('checkout', '--quiet', '-B', 'next', base);
        await runSample(place, { metadata: { id, target: { baseRef: 'next' } } });
      }
      place.git('checkout', '--quiet', 'main');
      return [...sealedClaims(run), ...(await ledgerClaims(place, 3))];
    },
  },
  'ledger-of-one-entry': {
    about: 'the internal ledger of one run, with its proofs',
    async make(place) {
      await runSample(place);
      return ledgerClaims(place, 1);
    },
  },
  'exported-evidence': {
    about:
      'the evidence of a run in one file, a log proof and a bundle, for a verifier with keys and no repository',
    sample: 2,
    async make(place) {
      const run = await runSample(place);
      await place.writ(['report', run.run_id, '--bundle', '../evidence.json']);
      const show = (path: string): string => `${place.git('show', `refs/ai/runs/${run.run_id}:${path}`)}\n`;
      place.file('provenance.sigstore.json', show('provenance.sigstore.json'));
      place.file('transparency-proof.tlog-proof', show('transparency-proof.tlog-proof'));
      place.file('spec.json', show('spec.json').trimEnd());
      const { vkey } = (await place.writ(['ledger', 'show'])) as { readonly vkey: string };
      place.file('log.vkey', `${vkey}\n`);
      await place.writ(['ledger', 'export-trusted-root', '-o', '../trusted-root.json']);
      const keys = join(place.home, '.config/writ/keys');
      const signer = readdirSync(keys).find((name) => /^signing-.*\.pub\.pem$/.test(name)) ?? '';
      place.file('signer.pem', readFileSync(join(keys, signer)));
      for (const path of [join(place.home, '.config'), join(place.repo, '.git')])
        rmSync(path, { recursive: true });
      const anchors = ['--key', '../signer.pem', '--ledger-key', '../log.vkey'];
      return [
        { run: ['verify', '../evidence.json', ...anchors, '--spec', '../spec.json', '--replay'] },
        {
          run: [
            'verify',
            '../transparency-proof.tlog-proof',
            '--ledger-key',
            '../log.vkey',
            '--artifact',
            '../provenance.sigstore.json',
          ],
        },
        { run: ['verify', '../provenance.sigstore.json', ...anchors], exit: 'recorded' },
        {
          run: [
            'verify',
            '../provenance.sigstore.json',
            '--key',
            '../signer.pem',
            '--trusted-root',
            '../trusted-root.json',
          ],
          exit: 'recorded',
        },
        { run: ['verify', '../evidence.json'], exit: 3 },
        { run: ['attest', 'show', '../provenance.sigstore.json'] },
      ];
    },
  },
};

export const publicLog: Json = { provenance: { transparencyLog: { mode: 'public-log' } } };

/** What the servers of the tests need of a test: they end when `use` has ended. */
export async function withServers<T>(use: (t: Test) => Promise<T>): Promise<T> {
  const ends: (() => unknown)[] = [];
  try {
    return await use({ teardown: (end: () => unknown) => ends.push(end) } as unknown as Test);
  } finally {
    for (const end of ends) await end();
  }
}

/** Commits a configuration that names a log. */
export function useLog(
  place: Place,
  log: { readonly url: string; readonly trustedRoot: string },
  api: string,
): void {
  const config = `[log]\nurl = "${log.url}"\napi = "${api}"\ntrusted_root = ".writ/trust/root.json"\n`;
  place.commit('Log', { '.writ/trust/root.json': log.trustedRoot, '.writ/config.toml': config });
  place.file('root.json', log.trustedRoot);
}

async function publicRun(
  place: Place,
  log: { readonly url: string; readonly trustedRoot: string },
  api: string,
): Promise<readonly Expectation[]> {
  useLog(place, log, api);
  const run: RunData = await runSample(place, publicLog);
  return sealedClaims(run, ['--trusted-root', '../root.json']);
}

async function ledgerClaims(place: Place, size: number): Promise<readonly Expectation[]> {
  const { vkey } = (await place.writ(['ledger', 'show'])) as { readonly vkey: string };
  return [
    { run: ['ledger', 'show'] },
    { run: ['ledger', 'prove', String(size - 1)] },
    { run: ['ledger', 'consistency', '1', String(size)] },
    { run: ['ledger', 'audit', '.git/writ/ledger', '--vkey', vkey] },
  ];
}
