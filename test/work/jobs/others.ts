import { applyHunks } from '../../../agent/patch/apply-hunks.ts';
import { toGraph } from '../../../api/graph/to-graph.ts';
import { parseAllowedSigners } from '../../../attest/approval/allowed-signers.ts';
import { fitsPatternList } from '../../../attest/approval/read-approvals.ts';
import { sbomProducer } from '../../../plugins/supply-chain/plugin.ts';
import { madeRun, madeThread } from '../../api/graph/made-thread.ts';
import { requestOf } from '../../plugins/artifacts/artifact-request.ts';
import type { Jobs } from '../count-work.ts';
import { repeated } from '../of-pieces.ts';

export const jobs: Jobs = {
  'hunks of a large file': {
    prepare: (lines) => {
      const text = Array.from({ length: lines }, (_, index) => `line ${index}`).join('\n');
      const hunks = Array.from({ length: lines / 20 }, (_, index) => ({
        from: [`line ${index * 20}`],
        to: ['changed'],
        kept: [-1],
        atEnd: false,
      }));
      return () => applyHunks(text, hunks);
    },
  },
  'a pattern of many stars': {
    prepare: (size) => {
      const pattern = `${'*a'.repeat(100)}b`;
      const text = 'a'.repeat(size);
      return () => {
        if (fitsPatternList(text, pattern)) throw new Error('it fits');
      };
    },
    size: 64,
  },
  'lines of allowed signers': {
    prepare: (size) => {
      const text = repeated('# people\r\n\r\nana@x ssh-ed25519 AAAA her laptop\n', size);
      return () => parseAllowedSigners(Buffer.from(text));
    },
  },
  'the graph of a thread': {
    prepare: (runs) => {
      const thread = madeThread({ runs: Array.from({ length: runs }, (_, at) => madeRun(`run ${at}`, 20)) });
      return () => toGraph(thread);
    },
    size: 4,
  },
  'a bill of materials': {
    prepare: (count) => {
      const packages = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `node_modules/p${index}`,
          { version: '1.0.0', license: 'MIT', dependencies: { [`p${(index * 7) % count}`]: '1' } },
        ]),
      );
      const request = requestOf({
        'package.json': { name: 'app' },
        'package-lock.json': { lockfileVersion: 3, packages },
      });
      return () => sbomProducer.produce(request);
    },
    size: 100,
  },
};
