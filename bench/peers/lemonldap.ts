/**
 * LemonLDAP::NG as Debian has it, in a folder of its own: configuration and sessions in files, as many processes as by
 * default. It checks sessions that its portal would have made.
 */
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { start, type Started, untilReady } from "../setup/Processes.ts"

const program = "llng-fastcgi-server"
const user = "www-data"
const cookie = "lemonldap"

/** The installed version; undefined if there is none. */
export function lemonldapVersion(): string | undefined {
  const printed = spawnSync("perl", ["-MLemonldap::NG::Handler", "-e", "print Lemonldap::NG::Handler->VERSION"])
  return printed.status === 0 ? printed.stdout.toString() : undefined
}

interface Lemonldap {
  readonly started: Started
  readonly cookie: string
  /** A file with the ids of the sessions, one a line. */
  readonly sessions: string
  /** The shop's site for nginx. */
  readonly site: string
}

/** Starts the server with a session for each visitor. */
export async function startLemonldap(folder: string, host: string, visitors: number): Promise<Lemonldap> {
  const own = join(folder, "lemonldap")
  for (const name of ["conf", "sessions/lock"]) mkdirSync(join(own, name), { recursive: true })
  writeFileSync(join(own, "ini"), `[all]\nlogLevel = warn\n[configuration]\ntype = File\ndirName = ${own}/conf\n`)
  writeFileSync(join(own, "conf/lmConf-1.json"), JSON.stringify(configuration(own, host)))
  const sessions = join(own, "ids")
  writeFileSync(sessions, writeSessions(join(own, "sessions"), visitors))
  const socket = join(own, "socket")
  const started = start({
    name: program,
    command: program,
    arguments: ["--foreground", "--socket", socket, "--pid", join(own, "pid"), ...asUser(own)],
    environment: {
      LLNG_DEFAULTCONFFILE: join(own, "ini"),
      LLNG_DEFAULTLOGGER: "Lemonldap::NG::Common::Logger::Std"
    },
    logDirectory: folder
  })
  await untilReady(started, () => Promise.resolve(existsSync(socket)))
  const site = readFileSync(join(import.meta.dirname, "lemonldap.conf"), "utf8")
  return { started, cookie, sessions, site: site.replace(/(?<=unix:)[^;]+/, socket) }
}

/** It refuses to run as root. */
function asUser(folder: string): ReadonlyArray<string> {
  if (process.getuid!() !== 0) return []
  spawnSync("chown", ["-R", `${user}:`, folder])
  return ["--user", user, "--group", user]
}

function configuration(folder: string, host: string) {
  return {
    cfgNum: 1,
    cfgDate: 1,
    key: randomBytes(16).toString("hex"),
    cookieName: cookie,
    domain: host,
    portal: `http://auth.${host}/`,
    locationRules: { [host]: { "^/checkout": "accept", default: "unprotect" } },
    globalStorage: "Apache::Session::File",
    globalStorageOptions: {
      Directory: `${folder}/sessions`,
      LockDirectory: `${folder}/sessions/lock`,
      generateModule: "Lemonldap::NG::Common::Apache::Session::Generate::SHA256"
    },
    // Its own cache doubles the cost of a check where sessions are files beside it.
    localSessionStorage: ""
  }
}

/** Writes a session for each visitor. Returns their ids, one a line. */
function writeSessions(folder: string, visitors: number): string {
  const now = Math.floor(Date.now() / 1_000)
  const ids = Array.from({ length: visitors }, (_, index) => {
    const id = randomBytes(32).toString("hex")
    const session = {
      _session_id: id,
      _session_kind: "SSO",
      _utime: now,
      _auth: "Demo",
      _user: `visitor-${index}`,
      uid: `visitor-${index}`,
      mail: `visitor-${index}@shop.example`,
      authenticationLevel: 1,
      ipAddr: "127.0.0.1"
    }
    writeFileSync(join(folder, id), JSON.stringify(session))
    return `${id}\n`
  })
  return ids.join("")
}
