/** Packages that tests take their judgement from. */
const libraries =
  'assert|chai|expect|should|power-assert|unexpected|jest|jest-circus|vitest|mocha|jasmine|jasmine-core|ava|tap|tape|uvu|zora|qunit|sinon|node-tap|supertest|@jest/[\\w-]+|@vitest/[\\w-]+|@tapjs/[\\w-]+|@playwright/test|@testing-library/[\\w-]+|bun:test|node:test|node:assert';

/** Files that take the place of a test library, or that run before every test. */
const forms: readonly RegExp[] = [
  new RegExp(`(?:^|/)node_modules/(?:${libraries})/`),
  new RegExp(`(?:^|/)node_modules/(?:${libraries})\\.[cm]?js$`),
  new RegExp(`(?:^|/)__mocks__/(?:${libraries})(?:/|\\.[cm]?[jt]sx?$)`),
  /(?:^|\/)(?:pytest|unittest|nose|nose2|assertpy|hamcrest|_pytest|pluggy|doctest)(?:\.py$|\/__init__\.py$)/,
  /(?:^|\/)(?:sitecustomize|usercustomize)\.py$|\.pth$/,
  /(?:^|\/)lib\/(?:minitest|rspec|rspec\/\w+|minitest\/\w+|test\/unit(?:\/\w+)?)\.rb$/,
  /(?:^|\/)vendor\/(?:github\.com\/stretchr\/testify|gotest\.tools|github\.com\/google\/go-cmp|phpunit\/|pestphp\/)/,
  /(?:^|\/)(?:org\/junit|junit\/framework|org\/testng|org\/assertj|org\/hamcrest|io\/kotest|kotlin\/test|org\/scalatest)\/(?:[\w-]+\/){0,8}[\w-]+\.(?:java|kt|scala|groovy)$/,
  /(?:^|\/)PHPUnit\/Framework\/\w+\.php$/,
  /(?:^|\/)Test\/(?:More|Simple|Builder|Most|Deep)\.pm$/,
  /(?:^|\/)(?:gtest|gmock|catch2|doctest|boost\/test)\/[\w/.-]+\.h(?:pp)?$|(?:^|\/)(?:catch|doctest)\.hpp$/,
  /(?:^|\/)bats-(?:assert|support|core)\//,
];

/** Whether a file at this path is found in place of a test library. */
export function shadowsTestLibrary(path: string): boolean {
  return forms.some((form) => form.test(path));
}
