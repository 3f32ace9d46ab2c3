# METADATA
# title: Masking of the decision log
# description: Its input is the record about to be written. What is named here is removed before it is written or hashed.
package system.log

# METADATA
# title: Mask
# description: JSON pointers into the record. A value counts as present whatever it is, `false` and `null` included.
mask contains "/input/request/secrets" if type_name(input.input.request.secrets)

mask contains "/input/subject/credential" if type_name(input.input.subject.credential)
