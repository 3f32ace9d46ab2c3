"""The decision: one pure function, and the desk that journals what it says before anyone hears it.

Lives here: `decide`, what a decision leaves in the journal, and the order in which the two happen.
Must not: HTTP, SQL, or a rule of the platform. A refusal is a value here, never an exception.
"""
