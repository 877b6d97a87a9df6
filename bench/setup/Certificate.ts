/** A certificate for one run, signed by itself. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { generate } from "selfsigned"

/** The files of a certificate, in PEM. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
}

/** Writes a certificate for `localhost` with a key on the curve P-256 into a folder. */
export async function makeCertificate(folder: string): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    curve: "P-256"
  })
  const files = { certFile: join(folder, "certificate.pem"), keyFile: join(folder, "key.pem") }
  writeFileSync(files.certFile, cert)
  writeFileSync(files.keyFile, key, { mode: 0o600 })
  return files
}

/** The settings with which a program serves HTTPS. */
export const certificateEnvironment = (certificate: Certificate | undefined): { readonly [name: string]: string } =>
  certificate === undefined ? {} : { TLS_CERT_FILE: certificate.certFile, TLS_KEY_FILE: certificate.keyFile }
