import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Sample } from '../../engine/sample.ts';
import { callIn, sampleWithAnn } from './waiting-run.ts';

/** A sample whose policy names its own runner. */
export async function sampleWithRunner(t: Test): Promise<Sample> {
  const sample = sampleWithAnn(t);
  t.equal((await callIn(t, sample)('init')).code, 0);
  const keys = join(sample.home, '.config', 'writ', 'keys');
  const pem = readdirSync(keys).find((name) => /^signing-.*\.pub\.pem$/.test(name)) ?? '';
  mkdirSync(join(sample.root, '.writ', 'trust'), { recursive: true });
  copyFileSync(join(keys, pem), join(sample.root, '.writ', 'trust', 'ci.pem'));
  writeFileSync(join(sample.root, '.writ', 'config.toml'), '[runners]\nkeys = [".writ/trust/ci.pem"]\n');
  sample.git('add', '--force', '.writ/trust', '.writ/config.toml');
  sample.git('commit', '--quiet', '-m', 'Runner');
  return sample;
}
