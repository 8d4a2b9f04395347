import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSample, type Sample } from '../../engine/sample.ts';

/** A million tokens cost so many dollars in, and twice that out: each reply of the script a 5000th of it. */
export function pricedSample(usd: number): Sample {
  const sample = makeSample();
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  const price = `[models.scripted]\ninput = ${usd}\noutput = ${2 * usd}\ncontext = 10000\n`;
  writeFileSync(join(sample.root, '.writ', 'config.toml'), price);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Prices');
  return sample;
}
