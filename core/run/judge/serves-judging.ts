/** Directories of things that serve development; what a script imports from elsewhere is the product that it judges. */
const tooling =
  /(?:^|\/)(?:scripts?|ci|tools?|tooling|build-?tools|hack|devtools|checks?|qa|lint|\.[\w-]+)\/|(?:^|\/)(?:global-?)?(?:set-?up|bootstrap)(?:[.-][\w.-]*)?$/i;

/** Cases stand in it: `tests-kept` judges its changes. */
const isTest =
  /[._-](?:test|spec|tests)\.[cm]?[jt]sx?$|(?:^|\/)test_[^/]*\.py$|_test\.(?:py|go|rb)$|_spec\.rb$|\.bats$/;

/** Versions and dependencies have rules of their own. */
const manifest = /(?:^|\/)(?:package|package-lock|tsconfig\.tsbuildinfo)\.json$/;

/** Whether a file to which another one leads serves the judging, and is not the product, or a test, that is judged. */
export function servesJudging(from: string, path: string): boolean {
  const isAtRoot = !from.includes('/') && !path.includes('/');
  return (isAtRoot || (tooling.test(path) && !isTest.test(path))) && !manifest.test(path);
}
