import type { Finding } from '../../core/contract/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { lineOfKey } from '../npm/line-of.ts';
import { npmChanges } from '../npm/npm-changes.ts';

const rule = 'new-dependency';
const maxFindings = 200;
/** Manifests and lockfiles whose dependencies are not compared yet. */
const unread =
  /(?:^|\/)(?:yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|requirements[\w.-]*\.txt|pyproject\.toml|poetry\.lock|uv\.lock|Pipfile(?:\.lock)?|go\.mod|Cargo\.(?:toml|lock)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|[\w.-]+\.csproj|packages\.lock\.json|mix\.(?:exs|lock)|Package\.(?:swift|resolved))$/;

interface News {
  readonly key: string;
  readonly path: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Compares dependencies of package.json and package-lock.json, base to candidate. `no-new`: every new one is an error. `allow-with-review`:
 * an error too, as no review of a dependency can be given yet. `allow`: a note. A lockfile entry that fetches another package than it
 * names is an error under every policy, and so is a file that cannot be read.
 */
export const judge: RuleFunction = (input) => {
  const policy = input.spec.constraints.security.dependencyPolicy;
  const changes = npmChanges(input);
  const findings: Finding[] = changes.faults.map(({ path, fault }) => ({
    rule,
    severity: 'error',
    message: `dependencies of \`${path}\` cannot be compared: ${fault}`,
    path,
  }));
  const { base, candidate } = changes;
  const known = new Set(
    base.locked.filter((one) => one.resolvedAs).map((one) => `${one.location} ${one.resolvedAs}`),
  );
  for (const { path, location, name, resolvedAs } of candidate.locked) {
    if (resolvedAs === undefined || known.has(`${location} ${resolvedAs}`)) continue;
    const message = `\`${name}\` is locked to the files of another package: \`${resolvedAs}\``;
    findings.push(at(input, path, location, 'error', message, { name, resolvedAs }));
  }
  for (const file of input.patch.files) {
    if (file.changeType === 'delete' || !unread.test(file.path) || policy === 'allow') continue;
    const message = `\`${file.path}\` changes, and only npm's files are compared: whether a dependency is new cannot be told`;
    findings.push({ rule, severity: 'error', message, path: file.path, detail: { policy } });
  }
  for (const { key, path, message, detail } of newsOf(changes)) {
    findings.push(
      at(input, path, key, policy === 'allow' ? 'note' : 'error', `${message}${wanted(policy)}`, {
        ...detail,
        policy,
      }),
    );
  }
  if (findings.length <= maxFindings) return findings;
  const severity = findings.some((finding) => finding.severity === 'error') ? 'error' : 'note';
  return [
    ...findings.slice(0, maxFindings),
    { rule, severity, message: `${findings.length - maxFindings} more findings are not listed` },
  ];
};

function newsOf({ base, candidate }: ReturnType<typeof npmChanges>): readonly News[] {
  const seen = new Set<string>();
  const news: News[] = [];
  for (const { key, field, path, spec, source } of candidate.declared) {
    if (source.kind === 'local' || base.sourceIds.has(source.id) || seen.has(source.id)) continue;
    seen.add(source.id);
    // A git or URL source is locked under its resolved address: told once.
    if (source.kind !== 'registry') seen.add(`${source.kind} ${key}`);
    const alias = source.name !== undefined && source.name !== key ? ` as \`${key}\`` : '';
    const what = source.name ?? key;
    news.push({
      key,
      path,
      message: `\`${what}\`${alias} is a new direct dependency (${field})`,
      detail: { name: what, relation: 'direct', field, spec, source: source.kind },
    });
  }
  const direct = new Set([
    ...candidate.declared.map(({ key }) => key),
    ...candidate.locks.flatMap((lock) => [...(lock.direct ?? [])]),
  ]);
  const requested = new Set([...direct, ...candidate.locks.flatMap((lock) => [...lock.requested])]);
  for (const { path, location, name, version, source, origin } of candidate.locked) {
    const key = location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (!base.sourceIds.has(source.id)) {
      if (seen.has(source.id) || seen.has(`${source.kind} ${key}`)) continue;
      seen.add(source.id);
      const isRequested = requested.has(key);
      const relation = direct.has(key) ? 'direct' : isRequested ? 'transitive' : 'unrequested';
      const words =
        relation === 'unrequested'
          ? 'new in the lockfile, and nothing asks for it'
          : `a new ${relation} dependency`;
      news.push({
        key: location,
        path,
        message: `\`${name}\` is ${words}`,
        detail: { name, version, relation, source: source.kind },
      });
    } else if (
      origin !== undefined &&
      base.origins.size > 0 &&
      !base.origins.has(origin) &&
      !seen.has(origin)
    ) {
      seen.add(origin);
      news.push({
        key: location,
        path,
        message: `\`${name}\` is now fetched from \`${origin}\``,
        detail: { name, origin },
      });
    }
  }
  return news;
}

function wanted(policy: string): string {
  if (policy === 'no-new') return '; the contract allows none';
  return policy === 'allow'
    ? ''
    : '; `allow-with-review` wants an sca-report and the approval of a reviewer, and approvals are not taken yet';
}

function at(
  input: RuleInput,
  path: string,
  key: string,
  severity: Finding['severity'],
  message: string,
  detail: Readonly<Record<string, unknown>>,
): Finding {
  const line = lineOfKey(input, path, key);
  return { rule, severity, message, path, ...(line === undefined ? {} : { line }), detail };
}
