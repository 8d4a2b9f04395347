import { judgeCorpus, lockfileCorpus, reportCorpus } from './corpora/batched-runs.ts';
import { gateCorpora } from './corpora/gates.ts';
import { runCorpus } from './corpora/runs.ts';
import { scanCorpus } from './corpora/scan.ts';
import { drawnCorpus, specCorpus } from './corpora/specs.ts';
import type { Corpus } from './corpus.ts';

/** Every set of cases that both versions run, the dearest first. */
export const corpora: readonly Corpus[] = [
  runCorpus,
  drawnCorpus,
  lockfileCorpus,
  specCorpus,
  reportCorpus,
  judgeCorpus,
  scanCorpus,
  ...gateCorpora,
];
