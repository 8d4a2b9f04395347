/* The kinds of parts that a plugin may have, as one table. */
import { list, type Schema, type TypeOf, withDefault } from '../../core/base/schema.ts';
import { artifactPart, evidencePart, logPart, providerPart, stageCheckPart } from './manifest-parts.ts';
import { outsideStageCheck, thirdPartyArtifact } from './parts/outside-checks.ts';
import { outsideEvidence, outsideLog, type PartEnvironment } from './parts/outside-evidence.ts';
import { outsideProvider } from './parts/outside-provider.ts';
import type { PluginPackage } from './plugin-package.ts';

/** How each kind is read from the manifest, and opened over the process of its plugin. */
const kinds = {
  provider: { entry: providerPart, open: outsideProvider },
  log: { entry: logPart, open: outsideLog },
  'stage-check': { entry: stageCheckPart, open: outsideStageCheck },
  artifact: { entry: artifactPart, open: thirdPartyArtifact },
  evidence: { entry: evidencePart, open: outsideEvidence },
} satisfies Readonly<Record<PartKind, PartRow>>;

interface PartRow {
  entry(pluginPackage: PluginPackage): Schema<{ readonly name: string }>;
  open(part: never, ground: PartEnvironment): object;
}

type Kinds = typeof kinds;
type KindOf = { readonly [K in PartKind as (typeof partFields)[K]]: K };

/** The parts that a manifest declares, by the field that lists them. */
export type ManifestParts = {
  readonly [F in PartField]: readonly TypeOf<ReturnType<Kinds[KindOf[F]]['entry']>>[];
};

/** The same, opened: by field, then by name. */
export type NamedParts = {
  readonly [F in PartField]: ReadonlyMap<string, ReturnType<Kinds[KindOf[F]]['open']>>;
};

/** Calls `make` for each kind, and returns the results by field. */
export function overParts<T extends NamedParts>(
  make: (field: PartField, kind: PartKind) => unknown,
): Pick<T, PartField> {
  const pairs = partKindNames.map((kind) => [partFields[kind], make(partFields[kind], kind)]);
  return Object.fromEntries(pairs) as Pick<T, PartField>;
}

const maxParts = 16;

/** The members of a manifest that list parts. */
export function partMembers(pluginPackage: PluginPackage): {
  readonly [F in PartField]: Schema<ManifestParts[F]>;
} {
  const pairs = partKindNames.map((kind) => {
    const { entry }: PartRow = kinds[kind];
    return [partFields[kind], withDefault(list(entry(pluginPackage), maxParts), [])];
  });
  return Object.fromEntries(pairs);
}

/** Opens one part by its kind, without running its code. */
export function openPart(kind: PartKind, part: { readonly name: string }, ground: PartEnvironment): object {
  const { open }: PartRow = kinds[kind];
  return open(part as never, ground);
}

/** What a plugin may bring beside rules, by kind: the field of its manifest that lists them. */
export const partFields = {
  provider: 'providers',
  log: 'logs',
  'stage-check': 'stageChecks',
  artifact: 'artifacts',
  evidence: 'evidence',
} as const;

export type PartKind = keyof typeof partFields;

export type PartField = (typeof partFields)[PartKind];

export const partKindNames = Object.keys(partFields) as readonly PartKind[];
