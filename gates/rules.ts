import type { Rule } from '../core/interfaces/rule.ts';
import { meta as artifactDeclared } from './rules/artifact-declared.meta.ts';
import { meta as artifactFormat } from './rules/artifact-format.meta.ts';
import { meta as artifactPresent } from './rules/artifact-present.meta.ts';
import { meta as checkOutcome } from './rules/check-outcome.meta.ts';
import { meta as judgeChanged } from './rules/judge-changed.meta.ts';
import { meta as licenses } from './rules/licenses.meta.ts';
import { meta as newDependency } from './rules/new-dependency.meta.ts';
import { meta as newTests } from './rules/new-tests.meta.ts';
import { meta as noDirectEval } from './rules/no-direct-eval.meta.ts';
import { meta as regression } from './rules/regression.meta.ts';
import { meta as requireApprovers } from './rules/require-approvers.meta.ts';
import { meta as sast } from './rules/sast.meta.ts';
import { meta as sbom } from './rules/sbom.meta.ts';
import { meta as sca } from './rules/sca.meta.ts';
import { meta as scope } from './rules/scope.meta.ts';
import { meta as secrets } from './rules/secrets.meta.ts';
import { meta as suppressions } from './rules/suppressions.meta.ts';
import { meta as testsKept } from './rules/tests-kept.meta.ts';
import { meta as undeclaredApi } from './rules/undeclared-api.meta.ts';
import { meta as verifyProvenance } from './rules/verify-provenance.meta.ts';

/** Every reason a built-in gate can fail, in the order in which findings are reported. */
export const rules: readonly Rule[] = [
  scope,
  noDirectEval,
  secrets,
  suppressions,
  newTests,
  judgeChanged,
  testsKept,
  undeclaredApi,
  newDependency,
  licenses,
  requireApprovers,
  verifyProvenance,
  checkOutcome,
  regression,
  artifactDeclared,
  artifactPresent,
  artifactFormat,
  sast,
  sca,
  sbom,
];
