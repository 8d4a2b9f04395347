/** One form of source that suppresses a tool's findings. */
export interface SuppressionMarker {
  /** The tool that looks away. */
  readonly tool: string;
  /** What every form begins with, at least four bytes of it. */
  readonly anchors: readonly string[];
  /** Matched from the anchor on, within one line. */
  readonly form: RegExp;
  /** Where the marker is syntax of the language, no comment has to open before it. */
  readonly isSyntax?: boolean;
}

/** Documented inline suppressions of analysers, type checkers, linters and secret scanners. */
export const suppressionMarkers: readonly SuppressionMarker[] = [
  { tool: 'writ', anchors: ['writ:allow-'], form: /^writ:allow-[a-z-]{1,40}/ },
  { tool: 'semgrep', anchors: ['nosem'], form: /^nosem(?:grep)?\b/ },
  { tool: 'bandit', anchors: ['nosec'], form: /^nosec\b/ },
  { tool: 'gosec', anchors: ['#nosec'], form: /^#nosec\b/ },
  { tool: 'sonar', anchors: ['NOSONAR'], form: /^NOSONAR\b/ },
  { tool: 'codeql', anchors: ['codeql', 'lgtm'], form: /^(?:codeql|lgtm)\s{0,4}\[/ },
  { tool: 'eslint', anchors: ['eslint-disable'], form: /^eslint-disable(?:-next-line|-line)?\b/ },
  { tool: 'biome', anchors: ['biome-ignore'], form: /^biome-ignore(?:-all|-start)?\b/ },
  {
    tool: 'typescript',
    anchors: ['@ts-ignore', '@ts-nocheck', '@ts-expect-error'],
    form: /^@ts-(?:ignore|nocheck|expect-error)\b/,
  },
  { tool: 'flake8', anchors: ['noqa', 'NOQA'], form: /^noqa\b/i },
  { tool: 'ruff', anchors: ['ruff:'], form: /^ruff: {0,4}noqa\b/ },
  { tool: 'mypy', anchors: ['type:'], form: /^type: {0,4}ignore\b/ },
  { tool: 'pyright', anchors: ['pyright:'], form: /^pyright: {0,4}ignore\b/ },
  { tool: 'pylint', anchors: ['pylint:'], form: /^pylint: {0,4}(?:disable|skip-file)\b/ },
  { tool: 'golangci-lint', anchors: ['nolint'], form: /^nolint\b/ },
  {
    tool: 'staticcheck',
    anchors: ['lint:ignore', 'lint:file-ignore'],
    form: /^lint:(?:ignore|file-ignore)\b/,
  },
  { tool: 'clang-tidy', anchors: ['NOLINT'], form: /^NOLINT(?:NEXTLINE|BEGIN)?\b/ },
  { tool: 'rubocop', anchors: ['rubocop:'], form: /^rubocop: {0,4}(?:disable|todo)\b/ },
  {
    tool: 'phpcs',
    anchors: ['phpcs:', '@codingStandardsIgnore'],
    form: /^(?:phpcs:(?:ignore|disable)|@codingStandardsIgnore)/,
  },
  { tool: 'phpstan', anchors: ['@phpstan-ignore'], form: /^@phpstan-ignore/ },
  { tool: 'psalm', anchors: ['@psalm-suppress'], form: /^@psalm-suppress\b/ },
  { tool: 'shellcheck', anchors: ['shellcheck'], form: /^shellcheck +disable=/ },
  { tool: 'hadolint', anchors: ['hadolint'], form: /^hadolint +(?:global +)?ignore=/ },
  { tool: 'checkov', anchors: ['checkov:skip='], form: /^checkov:skip=/ },
  { tool: 'trivy', anchors: ['trivy:ignore:', 'tfsec:ignore:'], form: /^(?:trivy|tfsec):ignore:/ },
  {
    tool: 'snyk',
    anchors: ['snyk:ignore', 'file deepcode ignore', 'deepcode ignore'],
    form: /^(?:snyk:ignore|file deepcode ignore|deepcode ignore)\b/,
  },
  { tool: 'gitleaks', anchors: ['gitleaks:allow'], form: /^gitleaks:allow\b/ },
  { tool: 'trufflehog', anchors: ['trufflehog:ignore'], form: /^trufflehog:ignore\b/ },
  {
    tool: 'detect-secrets',
    anchors: ['pragma:'],
    form: /^pragma: {0,4}(?:allowlist|whitelist) +(?:nextline +)?secret\b/,
  },
  {
    tool: 'javac',
    anchors: ['@Suppress'],
    form: /^@Suppress(?:Warnings|Lint|FBWarnings)?\s{0,4}\(/,
    isSyntax: true,
  },
  { tool: 'rustc', anchors: ['[allow(', '[expect('], form: /^\[(?:allow|expect)\(/, isSyntax: true },
  {
    tool: 'dotnet',
    anchors: ['#pragma warning disable', 'SuppressMessage'],
    form: /^(?:#pragma warning disable\b|SuppressMessage\s{0,4}\()/,
    isSyntax: true,
  },
];
