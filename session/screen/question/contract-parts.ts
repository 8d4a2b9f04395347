/** Sections on which nobody decides anew: they follow from rules, or from what stands before them. */
const further: ReadonlySet<string> = new Set([
  'Limits',
  'Rights of tools',
  'Artifacts and provenance',
  'History',
]);
const missing = 'Missing here, and needed before it can be committed';

/** A contract as a person reads it: what it is about first, and what follows from rules where it is asked for. */
export interface ContractParts {
  readonly essence: string;
  readonly rest: string;
  /** Names of the sections in `rest`. */
  readonly names: readonly string[];
}

/**
 * The body of a contract in two parts. A section of a name that is not known is essence: nothing is put away by
 * mistake. `lacks`: what is missing is told elsewhere, and not once more.
 */
export function contractParts(body: string, { lacks }: { readonly lacks: boolean }): ContractParts {
  const sections = body.split(/^(?=## )/m).map((text) => ({ text, name: nameOf(text) }));
  const shown = lacks ? sections.filter(({ name }) => name !== missing) : sections;
  const [essence, rest] = [
    shown.filter(({ name }) => !further.has(name)),
    shown.filter(({ name }) => further.has(name)),
  ];
  return {
    essence: essence.map(({ text }) => text).join(''),
    rest: rest.map(({ text }) => text).join(''),
    names: rest.map(({ name }) => name),
  };
}

function nameOf(section: string): string {
  return /^## (.*)/.exec(section)?.[1]?.trim() ?? '';
}
