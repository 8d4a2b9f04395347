const dataNames =
  /(?:^|\/)(?:\.env(?:[.-][\w.-]{1,40})?|[\w.-]{0,80}\.env|\.(?:npmrc|pypirc|netrc|pgpass|dockercfg|s3cfg|boto)|_netrc|netrc|credentials|Dockerfile[\w.-]{0,40}|[\w.-]{0,80}\.Dockerfile|[\w.-]{0,120}\.(?:ini|cfg|conf|config|cnf|properties|ya?ml|toml|tfvars|env|sh|bash|zsh|bat|cmd|ps1|service|txt|log|md|rst|adoc|csv|tsv|sql|http|rest))$/i;

/** Whether `name = value` without quotes is a value in files of this kind; in program text it is an expression. */
export function isDataFile(path: string): boolean {
  return dataNames.test(path);
}
