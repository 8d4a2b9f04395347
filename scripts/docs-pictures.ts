/*
 * Draws the pictures of README.md and docs/start/ from real runs: `node scripts/docs-pictures.ts [demo] [code]`, by
 * default all. `code` needs a pseudo terminal and Chromium.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawSession, shootPage } from './pictures/code-pictures.ts';
import { drawDemo } from './pictures/demo-picture.ts';

const pictures = join(import.meta.dirname, '../docs/start/pictures');
const words = process.argv.slice(2);
const isWanted = (word: string): boolean => words.length === 0 || words.includes(word);

mkdirSync(pictures, { recursive: true });
if (isWanted('demo')) writeFileSync(join(pictures, 'demo.svg'), await drawDemo());
if (isWanted('code')) {
  await drawSession(pictures);
  await shootPage(pictures);
}
// The process that starts programs for the pictures would keep this one alive.
process.exit(0);
