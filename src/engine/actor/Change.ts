/** What a commit changed, as it is told to those who follow the mechanism from another process. */
export interface Change {
  readonly consumerIds: Iterable<string>
  /** The mechanism itself has changed, not only places in it. */
  readonly recordChanged: boolean
}
