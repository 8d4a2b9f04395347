import { artifactScaffold } from './artifact-scaffold.ts';
import { evidenceScaffold } from './evidence-scaffold.ts';
import { gateScaffold } from './gate-scaffold.ts';
import type { NewKind } from './kind-words.ts';
import { logScaffold } from './log-scaffold.ts';
import { providerScaffold } from './provider-scaffold.ts';
import { stageCheckScaffold } from './stage-check-scaffold.ts';

/** The files of a new plugin of a kind, by path: they pass their test as they are. */
export const scaffolds: Readonly<Record<NewKind, (name: string) => ReadonlyMap<string, string>>> = {
  gate: gateScaffold,
  provider: providerScaffold,
  log: logScaffold,
  'stage-check': stageCheckScaffold,
  artifact: artifactScaffold,
  evidence: evidenceScaffold,
};
