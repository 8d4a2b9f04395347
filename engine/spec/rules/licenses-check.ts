import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/** Warns of a policy check `licenses` where the spec limits no license: the check can refuse nothing. */
export function licensesCheck(spec: Partly<IntentSpec>): readonly Issue[] {
  const { allowedSpdx = [], forbidNewLicenses = false } = spec.constraints?.licensing ?? {};
  if (allowedSpdx.length > 0 || forbidNewLicenses) return [];
  return checksOf(spec).flatMap(({ path, check: { kind, command } }) =>
    kind === 'policy' && command?.trim().split(/\s+/, 1)[0] === 'licenses'
      ? [
          warning(
            'SEMANTIC_LICENSES_UNLIMITED',
            `${path}/command`,
            'expected `allowedSpdx` or `forbidNewLicenses` to limit licenses, found neither: this check can refuse nothing. List the allowed licenses, or remove the check',
          ),
        ]
      : [],
  );
}
