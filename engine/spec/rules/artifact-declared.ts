import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/** Every artifact that a check produces is declared in `artifacts.required` (document 1, Errors 3). */
export function artifactDeclared(spec: Partly<IntentSpec>): readonly Issue[] {
  const required = spec.artifacts?.required;
  if (!required) return [];
  const declared = new Set<string | undefined>(required.map((entry) => entry?.name));
  return checksOf(spec).flatMap(({ path, check }) =>
    (check.artifactsProduced ?? []).flatMap((name, index) =>
      name === undefined || declared.has(name)
        ? []
        : [
            error(
              'SEMANTIC_ARTIFACT_UNDECLARED',
              `${path}/artifactsProduced/${index}`,
              `expected a name declared in \`/artifacts/required\`, found ${quoted(name)}`,
            ),
          ],
    ),
  );
}
