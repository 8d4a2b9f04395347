/** One way in which source tells a tool to look away. */
export interface SuppressionMarker {
  /** The tool that looks away. */
  readonly tool: string;
  /** Four bytes of every form, for the candidate filter. */
  readonly anchors: readonly string[];
  /** Matched from the anchor on, within one line. */
  readonly form: RegExp;
  /** Where the marker is syntax of the language, no comment has to open before it. */
  readonly isSyntax?: boolean;
}

/** Documented inline suppressions of analysers, type checkers, linters and secret scanners. */
export const suppressionMarkers: readonly SuppressionMarker[] = [
  { tool: 'writ', anchors: ['writ'], form: /^writ:allow-[a-z-]{1,40}/ },
  { tool: 'semgrep', anchors: ['nose'], form: /^nosem(?:grep)?\b/ },
  { tool: 'bandit', anchors: ['nose'], form: /^nosec\b/ },
  { tool: 'gosec', anchors: ['#nos'], form: /^#nosec\b/ },
  { tool: 'sonar', anchors: ['NOSO'], form: /^NOSONAR\b/ },
  { tool: 'codeql', anchors: ['code', 'lgtm'], form: /^(?:codeql|lgtm)\s{0,4}\[/ },
  { tool: 'eslint', anchors: ['esli'], form: /^eslint-disable(?:-next-line|-line)?\b/ },
  { tool: 'biome', anchors: ['biom'], form: /^biome-ignore(?:-all|-start)?\b/ },
  { tool: 'typescript', anchors: ['@ts-'], form: /^@ts-(?:ignore|nocheck|expect-error)\b/ },
  { tool: 'flake8', anchors: ['noqa', 'NOQA'], form: /^noqa\b/i },
  { tool: 'ruff', anchors: ['ruff'], form: /^ruff: {0,4}noqa\b/ },
  { tool: 'mypy', anchors: ['type'], form: /^type: {0,4}ignore\b/ },
  { tool: 'pyright', anchors: ['pyri'], form: /^pyright: {0,4}ignore\b/ },
  { tool: 'pylint', anchors: ['pyli'], form: /^pylint: {0,4}(?:disable|skip-file)\b/ },
  { tool: 'golangci-lint', anchors: ['noli'], form: /^nolint\b/ },
  { tool: 'staticcheck', anchors: ['lint'], form: /^lint:(?:ignore|file-ignore)\b/ },
  { tool: 'clang-tidy', anchors: ['NOLI'], form: /^NOLINT(?:NEXTLINE|BEGIN)?\b/ },
  { tool: 'rubocop', anchors: ['rubo'], form: /^rubocop: {0,4}(?:disable|todo)\b/ },
  { tool: 'phpcs', anchors: ['phpc', '@cod'], form: /^(?:phpcs:(?:ignore|disable)|@codingStandardsIgnore)/ },
  { tool: 'phpstan', anchors: ['@php'], form: /^@phpstan-ignore/ },
  { tool: 'psalm', anchors: ['@psa'], form: /^@psalm-suppress\b/ },
  { tool: 'shellcheck', anchors: ['shel'], form: /^shellcheck +disable=/ },
  { tool: 'hadolint', anchors: ['hado'], form: /^hadolint +(?:global +)?ignore=/ },
  { tool: 'checkov', anchors: ['chec'], form: /^checkov:skip=/ },
  { tool: 'trivy', anchors: ['triv', 'tfse'], form: /^(?:trivy|tfsec):ignore:/ },
  {
    tool: 'snyk',
    anchors: ['snyk', 'file', 'deep'],
    form: /^(?:snyk:ignore|file deepcode ignore|deepcode ignore)\b/,
  },
  { tool: 'gitleaks', anchors: ['gitl'], form: /^gitleaks:allow\b/ },
  { tool: 'trufflehog', anchors: ['truf'], form: /^trufflehog:ignore\b/ },
  {
    tool: 'detect-secrets',
    anchors: ['prag'],
    form: /^pragma: {0,4}(?:allowlist|whitelist) +(?:nextline +)?secret\b/,
  },
  {
    tool: 'javac',
    anchors: ['@Sup'],
    form: /^@Suppress(?:Warnings|Lint|FBWarnings)?\s{0,4}\(/,
    isSyntax: true,
  },
  { tool: 'rustc', anchors: ['[all', '[exp'], form: /^\[(?:allow|expect)\(/, isSyntax: true },
  {
    tool: 'dotnet',
    anchors: ['#pra', 'Supp'],
    form: /^(?:#pragma warning disable\b|SuppressMessage\s{0,4}\()/,
    isSyntax: true,
  },
];
