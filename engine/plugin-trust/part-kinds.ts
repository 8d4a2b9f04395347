import { parseArtifact } from './manifest-artifact.ts';
import { parseEvidence } from './manifest-evidence.ts';
import { parseLog } from './manifest-log.ts';
import type { PluginNeeds } from './manifest-needs.ts';
import { parseProvider } from './manifest-provider.ts';
import { parseStageCheck } from './manifest-stage-check.ts';
import { type PartField, type PartKind, partFields, partKindNames } from './part-fields.ts';
import { outsideArtifact } from './parts/outside-artifact.ts';
import { outsideEvidence } from './parts/outside-evidence.ts';
import { outsideLog } from './parts/outside-log.ts';
import { outsideProvider } from './parts/outside-provider.ts';
import { outsideStageCheck } from './parts/outside-stage-check.ts';
import type { PartGround } from './parts/part-ground.ts';
import type { PluginPackage } from './plugin-package.ts';

/** How each kind is read from the manifest, and opened over the process of its plugin. */
const kinds = {
  provider: { parse: parseProvider, open: outsideProvider },
  log: { parse: parseLog, open: outsideLog },
  'stage-check': { parse: parseStageCheck, open: outsideStageCheck },
  artifact: { parse: parseArtifact, open: outsideArtifact },
  evidence: { parse: parseEvidence, open: outsideEvidence },
} satisfies Readonly<Record<PartKind, PartRow>>;

interface PartRow {
  parse(item: unknown, pluginPackage: PluginPackage, needs: PluginNeeds): { readonly name: string };
  open(part: never, ground: PartGround): object;
}

type Kinds = typeof kinds;
type KindOf = { readonly [K in PartKind as (typeof partFields)[K]]: K };

/** The parts that a manifest declares, by the field that lists them. */
export type ManifestParts = {
  readonly [F in PartField]: readonly ReturnType<Kinds[KindOf[F]]['parse']>[];
};

/** The same, opened: by field, then by name. */
export type NamedParts = {
  readonly [F in PartField]: ReadonlyMap<string, ReturnType<Kinds[KindOf[F]]['open']>>;
};

/** What `make` answers for each kind, by field: the shape that is asked for. */
export function overParts<T extends ManifestParts | NamedParts>(
  make: (field: PartField, kind: PartKind) => unknown,
): Pick<T, PartField> {
  const pairs = partKindNames.map((kind) => [partFields[kind], make(partFields[kind], kind)]);
  return Object.fromEntries(pairs) as Pick<T, PartField>;
}

/** Reads one entry of a kind's field; throws on nonsense. */
export function parsePart(kind: PartKind, ...given: Parameters<PartRow['parse']>): { readonly name: string } {
  const { parse }: PartRow = kinds[kind];
  return parse(...given);
}

/** Opens one part as its kind does; nothing of it runs yet. */
export function openPart(kind: PartKind, part: { readonly name: string }, ground: PartGround): object {
  const { open }: PartRow = kinds[kind];
  return open(part as never, ground);
}
