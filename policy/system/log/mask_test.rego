package system.log.mask_test

import data.system.log

test_nothing_is_masked_where_nothing_is_secret if {
	log.mask == set() with input as {"input": {"subject": {"id": "user:ana"}, "request": {"sku": "h100-80g"}}}
}

test_secrets_of_the_request_are_masked if {
	log.mask == {"/input/request/secrets"} with input as {"input": {"request": {"secrets": {"token": "t"}}}}
}

test_the_credential_of_the_subject_is_masked if {
	log.mask == {"/input/subject/credential"} with input as {"input": {"subject": {"credential": "c"}}}
}

test_a_secret_is_masked_whatever_its_value if {
	log.mask == {"/input/request/secrets"} with input as {"input": {"request": {"secrets": false}}}
}

test_a_record_without_input_has_nothing_to_mask if {
	log.mask == set() with input as {"path": "lictor/admission"}
}
