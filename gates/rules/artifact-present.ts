/* The rule `artifact-present`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import { mustPass } from '../../core/interfaces/stage.ts';
import { lookedForAt } from '../../spec/checks-of.ts';

const rule = 'artifact-present';

/** Made when the run is sealed, after every stage; sealing answers for them. */
const sealed: ReadonlySet<string> = new Set(['provenance-attestation', 'transparency-proof']);

/**
 * Every artifact that the spec requires at this stage, or that a check lists in `artifactsProduced`, must exist and
 * be nonempty.
 */
export const judge: RuleFunction = ({ spec, stage, artifacts, unmade = {} }) => {
  if (!stage) return [];
  const required = spec.artifacts.required.filter(
    (entry) => lookedForAt(spec, entry) === stage.name && !sealed.has(entry.name),
  );
  const present = new Set(artifacts.filter(isFilled).map(({ name }) => name));
  const empty = new Set(artifacts.filter((one) => !isFilled(one)).map(({ name }) => name));
  const absent = required
    .filter(({ name }) => !present.has(name))
    .map((entry): Finding => {
      return {
        rule,
        severity: entry.required ? 'error' : 'warning',
        message: `expected artifact \`${entry.name}\` at stage \`${stage.name}\`, found ${empty.has(entry.name) ? 'an empty file' : 'none'}${entry.required ? '' : '; it is not required and blocks nothing'}${Object.hasOwn(unmade, entry.name) ? `: ${unmade[entry.name]}` : ''}`,
        detail: { artifact: entry.name, stage: stage.name, required: entry.required },
      };
    });
  return [...absent, ...unkept(spec, stage, artifacts)];
};

/** A change may be empty; any other artifact without content is missing. Captured logs begin with a header line. */
function isFilled({ name, sizeBytes }: RuleInput['artifacts'][number]): boolean {
  return sizeBytes > 0 || name === 'patchset';
}

/**
 * Artifacts that a check of this stage lists but did not deliver. An artifact made by the engine counts for a policy
 * check, which cannot deliver any. It does not excuse a program that should have written a report.
 */
function unkept(
  spec: RuleInput['spec'],
  stage: NonNullable<RuleInput['stage']>,
  artifacts: RuleInput['artifacts'],
): readonly Finding[] {
  const ran = new Set(stage.checks.filter(({ status }) => status !== 'waiting').map(({ id }) => id));
  const checks = spec.acceptance.verificationPlan[`${stage.name}Checks`].filter(({ id }) => ran.has(id));
  return checks.flatMap((check) =>
    [...new Set(check.artifactsProduced)]
      .filter((name) => !sealed.has(name))
      .filter((name) => !artifacts.some((made) => made.name === name && isDelivered(made, check)))
      .map((name): Finding => {
        return {
          rule,
          severity: mustPass(check) ? 'error' : 'warning',
          message: `check \`${check.id}\` produces \`${name}\`: expected \`$REPORTS_DIR/${name}.*\`, found none`,
          detail: { artifact: name, check: check.id, required: check.required },
        };
      }),
  );
}

function isDelivered(
  { name, checkId }: RuleInput['artifacts'][number],
  { id, kind }: { readonly id: string; readonly kind: string },
): boolean {
  return checkId === id || (checkId === undefined && (kind === 'policy' || name === 'patchset'));
}
