"""The journal: every answer, durable before it is given, in a hash chain that anyone can verify.

Lives here: what a record is, how records are chained, masked, erased and verified, and the one thread that writes them.
Must not: SQL (`engine.store` implements the port in `writer`), HTTP, or an opinion about a decision.
"""
