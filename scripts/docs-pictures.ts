/* Draws the picture of README.md from a real run, into `docs/start/pictures/`: `node scripts/docs-pictures.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawDemo } from './pictures/demo-picture.ts';

const pictures = join(import.meta.dirname, '../docs/start/pictures');
mkdirSync(pictures, { recursive: true });
writeFileSync(join(pictures, 'demo.svg'), await drawDemo());
