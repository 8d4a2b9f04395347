/** Programs that run others in ways that are not followed here. */
const names = new Set(
  `
    sudo doas su runuser pkexec chroot unshare nsenter setpriv capsh bwrap systemd-run busybox toybox watch
    parallel script scriptreplay expect unbuffer at batch crontab flock strace ltrace gdb lldb perf valgrind
    ssh screen tmux zsh ksh mksh yash posh rbash rksh fish csh tcsh rc es elvish nu pwsh xonsh run-parts start-stop-daemon chrt taskset
    prlimit numactl choom fakeroot faketime proot firejail runcon newgrp sg cmd entr ld.so rlwrap setarch
    linux32 linux64 i386 x86_64 uname26 dbus-run-session dbus-launch caffeinate
  `
    .trim()
    .split(/\s+/),
);

/** Whether what a program runs cannot be told from its arguments by anything here. */
export function isOpaque(name: string): boolean {
  return names.has(name) || /^ld-linux/.test(name);
}
