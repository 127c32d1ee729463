// Debian's Postfix, and its Exim and OpenSMTPD unpacked beside it: each runs with its stock configuration in namespaces of its own,
// where its users exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../../process/child-environment.ts";

/** Where the packages `exim4-daemon-light`, `exim4-config`, `libidn12` and `opensmtpd` are unpacked. */
const DAEMONS = process.env["MAIL_DAEMONS_FOLDER"] ?? "";

export const missingDaemons = (): readonly string[] =>
  existsSync(join(DAEMONS, "usr/sbin/exim4")) ? [] : ["their packages in MAIL_DAEMONS_FOLDER"];

const WANTED =
  "ip link set lo up && mount -t tmpfs tmpfs /run && mount --bind /etc/passwd /etc/passwd";

/** Some containers permit namespaces, and nothing within them. */
export const mayMakeNamespaces = (): boolean =>
  spawnSync("unshare", ["-mn", "--pid", "--fork", "sh", "-c", WANTED]).status === 0;

const USERS = ["Debian-exim", "opensmtpd", "opensmtpq"].map((name, at) => ({
  name,
  id: 64_990 + at,
}));

/** Runs a script of the shell with the folder of the packages as $DAEMONS; ends what it started. Returns what it printed. */
function insideNamespaces(
  folder: string,
  script: string,
  settings: Readonly<Record<string, string>>,
): string {
  const users = USERS.map(
    ({ name, id }) => `${name}:x:${String(id)}:${String(id)}::/:/bin/false\n`,
  );
  const groups = USERS.map(({ name, id }) => `${name}:x:${String(id)}:\n`);
  writeFileSync(join(folder, "passwd"), readFileSync("/etc/passwd", "utf8") + users.join(""));
  writeFileSync(join(folder, "group"), readFileSync("/etc/group", "utf8") + groups.join(""));
  const begin = `set -eu
    chmod 755 .
    ip link set lo up
    for one in passwd group; do mount --bind $one /etc/$one; done
    for one in /run /var/lib /var/spool; do mount -t tmpfs tmpfs $one; done
    export LD_LIBRARY_PATH=$(echo $DAEMONS/usr/lib/*-linux-gnu)`;
  const words = ["-mn", "--pid", "--fork", "--kill-child", "sh", "-c", `${begin}\n${script}`];
  const env = childEnvironment({ DAEMONS, FOLDER: folder, ...settings });
  const run = spawnSync("unshare", words, { cwd: folder, env, encoding: "utf8", timeout: 480_000 });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout;
}

const EXIM = `
  printf '#!/bin/sh\\n' > chown; chmod +x chown
  sed "s|/usr/sbin/exim4|$DAEMONS/usr/sbin/exim4|" $DAEMONS/usr/sbin/update-exim4.conf > update
  PATH=$FOLDER:$PATH sh update -d $FOLDER -o $FOLDER/exim.conf
  for sender in $SENDERS; do
    printf 'HELO x.example\\nMAIL FROM:<%s>\\nRCPT TO:<root@here.example>\\nQUIT\\n' $sender |
      $DAEMONS/usr/sbin/exim4 -C $FOLDER/exim.conf -bh 192.0.2.1 2> log | sed -n 9p
  done`;

/** Debian's split configuration, as its package makes it for a server of the internet. */
export function layOutExim(folder: string): void {
  cpSync(join(DAEMONS, "etc/exim4"), folder, { recursive: true });
  const answers = [
    "configtype='internet'",
    "other_hostnames='here.example'",
    "local_interfaces=''",
  ];
  const lines = answers.map(
    (line) => `dc_${line.replace("configtype", "eximconfig_configtype")}\n`,
  );
  const rest = "dc_use_split_config='true'\ndc_localdelivery='mail_spool'\n";
  writeFileSync(join(folder, "update-exim4.conf.conf"), lines.join("") + rest);
}

/** What Exim answers to the recipient of mail from each sender. */
export function askExim(folder: string, senders: readonly string[]): readonly string[] {
  return insideNamespaces(folder, EXIM, { SENDERS: senders.join(" ") })
    .trim()
    .split(/\r?\n/);
}

/** Prints what the server says of each sender, or else of the recipient. */
const ASK = `
  ask() { python3 - $SENDERS << END
import smtplib, sys, time
for sender in sys.argv[1:]:
    for _ in range(600):
        try: server = smtplib.SMTP("127.0.0.1", 25); break
        except OSError: time.sleep(0.1)
    server.helo("x.example")
    said = server.mail(sender)
    print((said if said[0] >= 400 else server.rcpt("root@localhost"))[0])
    server.close()
END
  }`;

const POSTFIX = `${ASK}
  mkdir -p /var/lib/postfix /var/spool/postfix
  chown postfix /var/lib/postfix
  export MAIL_CONFIG=$FOLDER
  postfix start 2> log
  ask`;

/** Debian's configuration, as its package makes it. */
export const layOutPostfix = (folder: string): void =>
  cpSync("/etc/postfix", folder, { recursive: true });

/** What Postfix answers to the recipient of mail from each sender. */
export function askPostfix(folder: string, senders: readonly string[]): readonly string[] {
  return insideNamespaces(folder, POSTFIX, { SENDERS: senders.join(" ") })
    .trim()
    .split("\n");
}

const OPENSMTPD = `${ASK}
  mkdir -p /var/lib/opensmtpd/empty /var/spool/smtpd /run/sbin
  chmod 711 /var/spool/smtpd
  cp $DAEMONS/usr/sbin/smtpctl /run/sbin
  chgrp opensmtpq /run/sbin/smtpctl; chmod g+s /run/sbin/smtpctl
  cp smtpd.disposable all; echo @other.example > smtpd.disposable
  $DAEMONS/usr/sbin/smtpd -d -f $FOLDER/smtpd.conf > log 2>&1 &
  ask
  cat all > smtpd.disposable
  /run/sbin/smtpctl update table disposable > log.update
  ask`;

/** What OpenSMTPD answers to each sender, with a table of another name and once the table is updated. */
export function askSmtpd(
  folder: string,
  lines: string,
  senders: readonly string[],
): readonly string[] {
  const stock = readFileSync(join(DAEMONS, "etc/smtpd.conf"), "utf8");
  const own = lines.replaceAll("/etc/", `${folder}/`);
  const behind = stock.replace(/^listen on localhost$/m, "$& filter disposable");
  assert.notEqual(behind, stock);
  writeFileSync(join(folder, "aliases"), "");
  const text = `${own}\n${behind.replace("/etc/aliases", join(folder, "aliases"))}`;
  writeFileSync(join(folder, "smtpd.conf"), text);
  return insideNamespaces(folder, OPENSMTPD, { SENDERS: senders.join(" ") })
    .trim()
    .split("\n");
}
