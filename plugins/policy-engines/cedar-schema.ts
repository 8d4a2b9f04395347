/**
 * What a policy may speak of (Cedar schema syntax). Every policy is validated against it, so that a misspelt fact is an
 * error.
 */
export const schema = `
entity Actor = { kind: String };
entity Change = {
  changeType: String,
  risk: String,
  files: Long,
  binaryFiles: Long,
  linesAdded: Long,
  linesDeleted: Long,
  paths: Set<String>,
  directories: Set<String>,
  extensions: Set<String>,
  artifacts: Set<String>
};
entity File = {
  path: String,
  oldPath?: String,
  directory: String,
  directories: Set<String>,
  extension: String,
  changeType: String,
  binary: Bool,
  executable: Bool,
  linesAdded: Long,
  linesDeleted: Long
};
type Facts = {
  stage: String,
  checks: { passed: Set<String>, failed: Set<String>, waiting: Set<String> },
  findings: { rules: Set<String>, errors: Long, warnings: Long, notes: Long },
  approvals: { approvers: Set<String>, rejecters: Set<String>, groups: Set<String>, roles: Set<String>, count: Long }
};
action commit appliesTo { principal: [Actor], resource: [Change], context: Facts };
action change appliesTo { principal: [Actor], resource: [File], context: Facts };
`;
