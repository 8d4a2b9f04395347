/* A process of the tests: a run whose worker never answers. Tells the pids of all that it has started, once the worker is at work. */
import { writeSync } from 'node:fs';
import { startedChildren } from '../workspace/git/started-children.ts';
import { makeSample } from './sample.ts';

const sample = makeSample();
using children = startedChildren();
const worker = {
  name: 'stuck',
  usesModel: false,
  async work() {
    writeSync(1, `${JSON.stringify({ pids: children.running(), gits: children.gits() })}\n`);
    return new Promise<never>(() => setInterval(() => {}, 1000));
  },
};
await sample.run({ worker });
