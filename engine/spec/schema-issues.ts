import { appendPointer } from '../../core/base/json-pointer.ts';
import { quoted } from '../../core/base/quoted.ts';
import { error, type Issue } from '../../core/contract/issue.ts';
import validate, { type SchemaViolation } from './intentspec-validator.gen.js';
import { maxViolations } from './max-violations.ts';

/** Every way in which a parsed document breaks the JSON Schema; nothing means it conforms. Never throws. */
export function findSchemaIssues(document: unknown): readonly Issue[] {
  if (validate(document)) return [];
  const violations = validate.errors ?? [];
  const mistyped = new Set(violations.filter((one) => one.keyword === 'type').map((one) => one.instancePath));
  const issues: Issue[] = [];
  for (const violation of violations) {
    // A number where one of five words belongs is one mistake, not two.
    const echo = violation.keyword === 'enum' || violation.keyword === 'const';
    if (!(echo && mistyped.has(violation.instancePath))) issues.push(toIssue(violation));
  }
  if (violations.length >= maxViolations) {
    issues.push(
      error(
        'SCHEMA_TOO_MANY_ISSUES',
        '',
        `expected a contract, found at least ${maxViolations} violations; the rest is not listed`,
      ),
    );
  }
  return issues;
}

function toIssue({ keyword, instancePath, params }: SchemaViolation): Issue {
  const code = `SCHEMA_${keyword.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  const { limit, missingProperty, additionalProperty, allowedValues, allowedValue, type, format } =
    params as Params;
  switch (keyword) {
    case 'required':
      return error(
        code,
        instancePath,
        `expected the property ${quoted(String(missingProperty))}, found none`,
      );
    case 'additionalProperties':
      return error(
        code,
        appendPointer(instancePath, String(additionalProperty)),
        `expected only properties of the contract, found ${quoted(String(additionalProperty))}`,
      );
    case 'type':
      return error(code, instancePath, `expected a value of type ${type}`);
    case 'enum':
      return error(code, instancePath, `expected one of ${(allowedValues ?? []).map(quoted).join(', ')}`);
    case 'const':
      return error(code, instancePath, `expected ${quoted(String(allowedValue))}`);
    case 'minLength':
      return error(code, instancePath, `expected at least ${limit} characters`);
    case 'maxLength':
      return error(code, instancePath, `expected at most ${limit} characters`);
    case 'minItems':
      return error(code, instancePath, `expected at least ${limit} items`);
    case 'minimum':
      return error(code, instancePath, `expected at least ${limit}`);
    case 'maximum':
      return error(code, instancePath, `expected at most ${limit}`);
    case 'pattern':
      return error(code, instancePath, patternMessages[instancePath] ?? 'expected another form');
    case 'format':
      return error(
        code,
        instancePath,
        `expected a ${format} of RFC 3339 with a time zone, such as \`2026-01-31T09:30:00Z\``,
      );
    default:
      return error(code, instancePath, `expected what \`${keyword}\` of the schema says`);
  }
}

interface Params {
  readonly limit?: number;
  readonly missingProperty?: string;
  readonly additionalProperty?: string;
  readonly allowedValues?: readonly string[];
  readonly allowedValue?: string;
  readonly type?: string;
  readonly format?: string;
}

const patternMessages: Readonly<Record<string, string>> = {
  '/apiVersion':
    'expected `intentspec.<domain>/v<N>` with an optional `alpha<N>` or `beta<N>`, such as `intentspec.io/v1alpha1`',
  '/lifecycle/schemaVersion': 'expected `<major>.<minor>.<patch>` in digits, such as `1.0.0`',
};
